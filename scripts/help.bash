# Sourced by scripts before they do anything: asked for help, a script prints the comment at its top, and ends.
case ${1-} in
-h | --help)
  sed -n '1d; /^#/!q; s/^# \{0,1\}//p' "$0"
  exit 0
  ;;
esac
