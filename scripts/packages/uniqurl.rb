# A formula of Homebrew. scripts/release has filled in the version and the checksums.
class Uniqurl < Formula
  desc "Normalizes and deduplicates URLs in logs, lists and crawl indexes"
  homepage "https://github.com/uniqurl/uniqurl"
  version "@VERSION@"
  license all_of: [{ any_of: ["MIT", "Apache-2.0"] }, "MPL-2.0"]

  on_linux do
    on_intel do
      url "https://github.com/uniqurl/uniqurl/releases/download/v@VERSION@/uniqurl-@VERSION@-x86_64-linux.tar.gz"
      sha256 "@x86_64-linux@"
    end
    on_arm do
      url "https://github.com/uniqurl/uniqurl/releases/download/v@VERSION@/uniqurl-@VERSION@-aarch64-linux.tar.gz"
      sha256 "@aarch64-linux@"
    end
  end

  # No binaries are released for macOS, so it is built there.
  on_macos do
    url "https://github.com/uniqurl/uniqurl/releases/download/v@VERSION@/uniqurl-@VERSION@-source.tar.gz"
    sha256 "@source@"
    depends_on "rust" => :build
  end

  def install
    if OS.mac?
      system "cargo", "install", *std_cargo_args(path: "crates/cli")
      mkdir "man"
      system bin/"uniqurl", "man", "--all", "man"
      generate_completions_from_executable(bin/"uniqurl", "completions")
    else
      bin.install "uniqurl"
      bash_completion.install "completions/uniqurl.bash" => "uniqurl"
      fish_completion.install "completions/uniqurl.fish"
      zsh_completion.install "completions/uniqurl.zsh" => "_uniqurl"
      doc.install "NOTICES"
    end
    man1.install Dir["man/*.1"]
  end

  test do
    (testpath/"urls.txt").write "HTTP://Example.COM:80/%7Eann\nhttp://example.com/~ann\n"
    assert_equal "http://example.com/~ann\n", shell_output("#{bin}/uniqurl dedup -q urls.txt")
  end
end
