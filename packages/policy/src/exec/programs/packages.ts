/** Package managers, of languages and of machines, and managers of versions and environments. */
import { type PackageManager, type Programs, type SecretCall, setupWords, stdinName } from "./program.ts";

const token: SecretCall = { words: /^(?!(?:run|exec|x|test|start) )(?:\S+ )?token(?: (?:list|ls))?$/ };
// npm itself does not show what it protects.
const storedLogin: SecretCall = { words: /(?:^| )(?:config |c )?get \S*(?:_auth|_password|AuthToken|authToken)/ };
const self = /^self (?:add|update|remove|install)\b/;

const simulated = /^(?:-s|--simulate|--just-print|--dry-run|--no-act|--print-uris|-d|--download-only|--assumeno)$/;
const apt: PackageManager = {
  verb: /^(?:install|reinstall|remove|purge|upgrade|safe-upgrade|full-upgrade|dist-upgrade|autoremove|autopurge|build-dep|satisfy)$/,
  harmless: simulated,
};

export const packages: Programs = {
  "npx bunx pnpx": { rules: ["npx"] },
  npm: { is: ["namesFiles"], prints: "client", rules: ["npm"], secrets: [token] },
  pnpm: {
    prints: "client",
    does: "high persistence",
    says: "pnpm changes what shells do when they start.",
    line: /^setup(?: |$)/,
    rules: ["npm"],
    secrets: [token, storedLogin],
  },
  yarn: {
    prints: "client",
    rules: ["npm"],
    publishes: /^npm (?:publish|tag (?:add|remove))\b/,
    secrets: [token, storedLogin],
  },
  cnpm: { rules: ["npm"] },
  "pip pip3": {
    is: ["namesFiles"],
    options:
      "r:e:c:i:f:t:qvUI requirement= editable= constraint= index-url= extra-index-url= find-links= target= trusted-host= root= prefix= python= upgrade user no-deps quiet dry-run break-system-packages no-cache-dir disable-pip-version-check",
    prints: "client",
    rules: ["pip"],
  },
  "uvx rye hatch": { rules: ["uv"] },
  uv: {
    rules: ["uv"],
    installs: {
      words: /^(?:tool (?:install|uninstall|upgrade|update-shell)|pip (?:install|uninstall|sync) .*--system)\b/,
    },
    stdinCode: new RegExp(String.raw`(?:^| )run (?:-\S+ )*${stdinName}`),
  },
  pipx: { rules: ["uv"], installs: { words: /^(?:install|uninstall|upgrade|inject|reinstall|ensurepath)/ } },
  pdm: { rules: ["uv"], installs: { words: self } },
  pipenv: { wraps: { skip: 1, verb: /^run$/ } },
  poetry: {
    prints: "client",
    wraps: { skip: 1, verb: /^run$/ },
    effects: [
      {
        does: "high exfiltration",
        says: "poetry publish uploads a package.",
        line: /^publish(?: |$)/,
        unless: /^--dry-run$/,
      },
      {
        does: "high credential_change",
        says: "poetry stores a login.",
        line: /^config(?: |$)/,
        arg: /^(?:pypi-token|http-basic|repositories)/,
      },
    ],
    installs: { words: self },
  },
  "twine flit": { deploys: /^(?:upload|publish)$/ },
  gem: {
    effects: [
      {
        does: "high credential_change",
        says: "$n $1 changes stored logins.",
        words: /^(signin|signout)(?: |$)/,
        also: true,
      },
      { does: "high exfiltration", says: "gem push publishes a package.", line: /^push(?: |$)/ },
    ],
    installs: { words: /^(?:install|uninstall|update)\b/, into: ["install-dir", "i", "bindir", "n"] },
    publishes: /^(?:yank|owner)\b/,
  },
  rubygems: { does: "high credential_change", says: "$n $1 changes stored logins.", words: /^(signin|signout)(?: |$)/ },
  "bundle nix-shell devbox": { rules: ["runInside"] },
  "rbenv pyenv nodenv rustup": { printsCode: setupWords, rules: ["runInside"] },
  "jenv goenv fnm starship zoxide": { printsCode: setupWords },
  cargo: {
    effects: [
      {
        does: "high credential_change",
        says: "cargo $1 changes stored logins.",
        words: /^(login|logout|owner)(?: |$)/,
      },
      {
        does: "high exfiltration",
        says: "cargo $1 changes what others install.",
        words: /^(publish|yank)(?: |$)/,
        unless: /^(?:--dry-run|-n)$/,
      },
      {
        does: "medium pipe_to_shell",
        says: "cargo installs code from a repository.",
        words: /^install(?: |$)/,
        arg: /^--git$/,
      },
    ],
    rules: ["cargo"],
    installs: { words: /^(?:install|uninstall|binstall)\b/, into: ["root"] },
  },
  go: { rules: ["go"], installs: { words: /^install\b/ } },
  volta: { installs: { words: /^install (?!(?:node|npm|yarn|pnpm)\b)/ } },
  cpan: { installs: { words: /./ } },
  cpanm: { installs: { words: /^(?!\.( |$))./, into: ["local-lib", "local-lib-contained", "l", "L"] } },
  easy_install: { installs: { words: /./, into: ["install-dir", "d"] } },
  raco: { installs: { words: /^pkg (?:install|update|remove)\b/ } },
  composer: { installs: { words: /^global (?:require|install|update|remove)\b/ } },
  nimble: { installs: { words: /^(?:install|uninstall)\b/ } },
  opam: { printsCode: setupWords, installs: { words: /^(?:install|remove) (?!\.)/ }, publishes: /^publish\b/ },
  luarocks: {
    printsCode: setupWords,
    installs: { words: /^(?:install|remove)\b/, into: ["tree"] },
    publishes: /^upload\b/,
  },
  rtx: {
    // As `direnv allow`.
    does: "high persistence",
    says: "mise runs what the settings of a directory name.",
    line: /^trust(?: |$)/,
    rules: ["runInside"],
    installs: { words: /^use .*(?:-g|--global)\b/ },
  },
  mise: { like: "rtx", printsCode: setupWords },
  asdf: { printsCode: setupWords, rules: ["runInside", "asdf"] },
  direnv: { printsCode: setupWords, rules: ["direnv"] },
  "conda micromamba mamba": {
    options: "n:p:c:f:yqd name= prefix= root-prefix= channel= file= yes quiet dry-run json override-channels all",
    printsCode: setupWords,
    rules: ["runInside", "conda"],
  },
  brew: {
    printsCode: setupWords,
    effects: [
      { does: "medium pipe_to_shell", says: "brew installs code from an address.", arg: /^https?:\/\//, also: true },
      {
        does: "high persistence",
        says: "brew makes a service start by itself.",
        line: /^services (?:start|restart|run)(?: |$)/,
      },
    ],
    installs: { words: /^(?:install|uninstall|upgrade|reinstall|tap|link)\b/ },
  },
  nix: { rules: ["runInside"], installs: { words: /^profile (?:install|add|remove|upgrade)\b/, into: ["profile"] } },

  // Of the machine.
  "apt apt-get": {
    is: ["otherO"],
    options: "o:c:t:yqfmdsu option= config-file= target-release= yes",
    rules: ["apt"],
    changesMachine: apt,
  },
  aptitude: { changesMachine: apt },
  "yum dnf dnf5 microdnf tdnf zypper urpmi rpm-ostree": {
    changesMachine: {
      verb: /^(?:install|in|localinstall|groupinstall|remove|rm|erase|update|up|upgrade|dup|dist-upgrade|distro-sync|reinstall|downgrade|swap|autoremove|override|rebase)$/,
      harmless: /^(?:--downloadonly|--assumeno|--dry-run|-D)$/,
    },
  },
  apk: { changesMachine: { verb: /^(?:add|del|upgrade|fix)$/, harmless: /^(?:-s|--simulate)$/ } },
  "snap flatpak port choco winget scoop opkg ipkg eopkg slackpkg swupd mas tlmgr pkg pkgin": {
    changesMachine: {
      verb: /^(?:install|install-new|add|remove|uninstall|delete|refresh|update|upgrade|upgrade-all|autoremove|bundle-add|bundle-remove|revert)$/,
      harmless: /^(?:--dry-run|--list|-n)$/,
    },
  },
  guix: {
    changesMachine: {
      verb: /^(?:install|remove|upgrade|package|pull|system)$/,
      harmless: /^(?:-n|--dry-run|-A|-I|-s|-l)$/,
    },
  },
  dpkg: {
    changesMachine: {
      option: /^(?:-[irP]|--(?:install|unpack|configure|remove|purge|triggers-only|set-selections|add-architecture))$/,
      harmless: simulated,
    },
  },
  // `-qi` and `-Si` only read.
  rpm: {
    changesMachine: {
      option: /^(?:-[iUFe]\w*|--(?:install|upgrade|freshen|erase|reinstall|import))$/,
      harmless: /^--test$/,
    },
  },
  "pacman yay paru pamac pikaur trizen": {
    changesMachine: {
      option: /^(?:-(?:S(?!\w*[silgpw])|U|R)\w*|--(?:sync|upgrade|remove))$/,
      harmless: /^(?:-p|--print|--search|--info|--list|--groups)$/,
    },
  },
  "nix-env": {
    changesMachine: {
      option: /^(?:-[ieuG]\w*|--(?:install|uninstall|upgrade|set|rollback|switch-generation))$/,
      harmless: /^--dry-run$/,
    },
  },
  emerge: {
    changesMachine: { verb: /./, harmless: /^(?:-\w*[psS]\w*|--(?:pretend|search|searchdesc|info|list-sets|sync))$/ },
  },
  "xbps-install xbps-remove pkg_add pkg_delete": { changesMachine: { verb: /./, harmless: /^(?:-n|--dry-run)$/ } },
  "softwareupdate installer": { changesMachine: { option: /^(?:-i|--install|-pkg|--install-rosetta)$/ } },
};
