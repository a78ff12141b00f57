/** Package managers of the machine: what they install or remove concerns every user and project. */
import { forNames, isInformation, type Judge, type Judges } from "../programs/invocation.ts";
import { report } from "../shell/analysis.ts";

interface PackageManager {
  names: string;
  /** The first word that is no option; programs that have none of these only read. */
  verb?: RegExp;
  /** Options that change something, where options are the subcommands. */
  option?: RegExp;
  /** Options with which nothing is changed. */
  harmless?: RegExp;
}

const simulated = /^(?:-s|--simulate|--just-print|--dry-run|--no-act|--print-uris|-d|--download-only|--assumeno)$/;

const managers: readonly PackageManager[] = [
  {
    names: "apt apt-get aptitude",
    verb: /^(?:install|reinstall|remove|purge|upgrade|safe-upgrade|full-upgrade|dist-upgrade|autoremove|autopurge|build-dep|satisfy)$/,
    harmless: simulated,
  },
  {
    names: "yum dnf dnf5 microdnf tdnf zypper urpmi rpm-ostree",
    verb: /^(?:install|in|localinstall|groupinstall|remove|rm|erase|update|up|upgrade|dup|dist-upgrade|distro-sync|reinstall|downgrade|swap|autoremove|override|rebase)$/,
    harmless: /^(?:--downloadonly|--assumeno|--dry-run|-D)$/,
  },
  { names: "apk", verb: /^(?:add|del|upgrade|fix)$/, harmless: /^(?:-s|--simulate)$/ },
  {
    names: "snap flatpak port choco winget scoop opkg ipkg eopkg slackpkg swupd mas tlmgr pkg pkgin",
    verb: /^(?:install|install-new|add|remove|uninstall|delete|refresh|update|upgrade|upgrade-all|autoremove|bundle-add|bundle-remove|revert)$/,
    harmless: /^(?:--dry-run|--list|-n)$/,
  },
  {
    names: "guix",
    verb: /^(?:install|remove|upgrade|package|pull|system)$/,
    harmless: /^(?:-n|--dry-run|-A|-I|-s|-l)$/,
  },
  {
    names: "dpkg",
    option: /^(?:-[irP]|--(?:install|unpack|configure|remove|purge|triggers-only|set-selections|add-architecture))$/,
    harmless: simulated,
  },
  // `-qi` and `-Si` only read.
  {
    names: "rpm",
    option: /^(?:-[iUFe]\w*|--(?:install|upgrade|freshen|erase|reinstall|import))$/,
    harmless: /^--test$/,
  },
  {
    names: "pacman yay paru pamac pikaur trizen",
    option: /^(?:-(?:S(?!\w*[silgpw])|U|R)\w*|--(?:sync|upgrade|remove))$/,
    harmless: /^(?:-p|--print|--search|--info|--list|--groups)$/,
  },
  {
    names: "nix-env",
    option: /^(?:-[ieuG]\w*|--(?:install|uninstall|upgrade|set|rollback|switch-generation))$/,
    harmless: /^--dry-run$/,
  },
  { names: "emerge", verb: /./, harmless: /^(?:-\w*[psS]\w*|--(?:pretend|search|searchdesc|info|list-sets|sync))$/ },
  { names: "xbps-install xbps-remove pkg_add pkg_delete", verb: /./, harmless: /^(?:-n|--dry-run)$/ },
  { names: "softwareupdate installer", option: /^(?:-i|--install|-pkg|--install-rosetta)$/ },
];

/** Options before the verb whose value is the next word. */
const takesValue = /^(?:-[octRCD]|--(?:option|config-file|target-release|root|installroot|repo|repository|config))$/;

const judge =
  ({ verb, option, harmless }: PackageManager): Judge =>
  ({ name, args }, scope) => {
    // Who allows `sudo apt-get install` allows what it installs.
    if (scope.isPrivileged || isInformation(args) || args.some(({ text }) => harmless?.test(text))) return;
    const first = args.find(
      ({ text }, index) => !text.startsWith("-") && !takesValue.test(args[index - 1]?.text ?? ""),
    )?.text;
    const changes = (first !== undefined && verb?.test(first)) || args.some(({ text }) => option?.test(text));
    if (changes) report(scope, "medium", "persistence", `${name} changes the programs of the machine.`);
  };

export const systemPackageRules: Judges = Object.assign(
  {},
  ...managers.map((manager) => forNames(manager.names, judge(manager))),
) as Judges;
