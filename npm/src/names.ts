// Names, in the order of the library. A test compares them with it.

/** The profiles: which URLs are the same. */
// prettier-ignore
export const profiles = [
  'string', 'syntax', 'scheme', 'crawl', 'aggressive', 'ia', 'whatwg', 'sanitize', 'servlet', 'mediawiki',
  'restbase', 'upload', 'ring',
] as const

/** The name of a profile. */
export type Profile = (typeof profiles)[number]

/** The optional steps of profiles. */
// prettier-ignore
export const switches = [
  'keep-userinfo', 'keep-fragment', 'fold-scheme', 'strip-www', 'lower-path', 'squeeze-slashes', 'strip-session',
  'strip-index', 'strip-trailing-slash', 'drop-query', 'strip-tracking', 'blank-values', 'squeeze-query',
  'sort-query', 'keep-empty-segments',
] as const

/** The name of a switch. */
export type Switch = (typeof switches)[number]

/** The keys that are made of canonical URLs. */
export const keys = ['url', 'template', 'host', 'domain', 'domain-icann', 'surt', 'ssurt', 'hash'] as const

/** The name of a key. */
export type Key = (typeof keys)[number]

/** The reasons to reject a URL. */
// prettier-ignore
export const codes = [
  'empty', 'relative', 'scheme', 'no-authority', 'byte', 'escape', 'host', 'port', 'port-range', 'empty-host', 'idna',
  'newline', 'too-long', 'asterisk-form', 'authority-form', 'log-syntax', 'truncated', 'no-field', 'no-host',
  'fragment', 'decode', 'no-leading-slash', 'leading-dot-dot', 'encoded-slash', 'dot-segment-parameter',
  'encoded-dot-segment', 'empty-segment-before-dot-dot', 'empty-segment-parameter', 'backslash', 'control',
  'encoded-unreserved', 'encoded-backslash', 'nul', 'double-encoding', 'overlong-utf8', 'rare-ipv4', 'userinfo',
  'well-known-port', 'device-name', 'bidi-control', 'mixed-script-host', 'double-encoding-query',
] as const

/** The code of a reason. */
export type Code = (typeof codes)[number]
