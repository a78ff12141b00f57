/** Writing to files: which paths are protected, and why. */
import { isProtectedPath, leadingPaths, runningPaths } from "@tau/sandbox/internal";
import type { ExecClass, ExecContext, ExecFinding } from "../classification.ts";
import { isUnresolved } from "../links.ts";
import { isOwnWorktree } from "../../own-worktree.ts";
import { getZone, isBelow } from "../paths.ts";
import { report, type Scope } from "../shell/analysis.ts";
import { getAgentDir, isCredentialPath } from "../shell/files.ts";
import { type Text, toShown } from "../shell/text.ts";
import { isRawDevice } from "./device-names.ts";
import { resolveAll } from "./invocation.ts";

interface ProtectedPath {
  class: ExecClass;
  tier: ExecFinding["tier"];
  /** The tier of what puts nothing there, where it is another one: deleting it, or making an empty directory. */
  emptyTier?: ExecFinding["tier"];
}

const critical = (kind: ExecClass): ProtectedPath => ({ class: kind, tier: "critical" });
const high = (kind: ExecClass): ProtectedPath => ({ class: kind, tier: "high" });
const medium = (kind: ExecClass): ProtectedPath => ({ class: kind, tier: "medium" });

/** A path whose content runs by itself later. */
const planted: ProtectedPath = { class: "persistence", tier: "critical", emptyTier: "high" };

/** Absolute paths, in lower case. */
const system: readonly (readonly [RegExp, ProtectedPath])[] = [
  [/^\/proc\/sysrq-trigger$/, critical("device_write")],
  [/^\/proc\/sys\/kernel\/(?:core_pattern|modprobe|sysrq|hotplug)$/, critical("device_write")],
  [/^\/proc\/(?:self|\d+)\/(?:oom_score_adj|oom_adj|comm|setgroups|uid_map|gid_map)$/, medium("privilege_escalation")],
  [/^\/(?:proc|sys)\/power\/state$|^\/sys\/power\//, critical("shutdown")],
  [/^\/(?:proc|sys)(?:\/|$)/, high("device_write")],
  [
    /^\/etc\/(?:sudoers(?:\.d)?|doas\.conf|pam\.d|pam\.conf|polkit-1|security|ld\.so\.preload)(?:\/|$|~)/,
    critical("privilege_escalation"),
  ],
  [/^\/usr\/share\/polkit-1(?:\/|$)/, critical("privilege_escalation")],
  [/^\/etc\/(?:passwd|shadow|group|gshadow|master\.passwd|subuid|subgid)-?$/, critical("credential_change")],
  [/^\/etc\/ssh(?:\/|$)/, critical("credential_change")],
  [
    /^\/etc\/(?:ssl|pki|ca-certificates)(?:\/|$)|^\/usr\/(?:local\/)?share\/ca-certificates(?:\/|$)/,
    high("credential_change"),
  ],
  [/^\/(?:var\/spool\/(?:cron|at)|etc\/(?:cron[\w.-]*|anacrontab|at\.allow))(?:\/|$)/, critical("persistence")],
  [/^\/(?:etc|lib|usr\/lib|usr\/local\/lib|run)\/systemd(?:\/|$)/, critical("persistence")],
  [
    /^\/etc\/(?:profile|profile\.d|bash\.bashrc|bashrc|zsh|zshrc|zshenv|zprofile|environment|environment\.d|rc\.local|rc\d?\.d|init\.d|init|inittab|update-motd\.d|udev|modules|modules-load\.d|modprobe\.d|xdg\/autostart|x11|network|networkmanager\/dispatcher\.d|apt\/apt\.conf\.d|dhcp|logrotate\.d|skel|fish|csh\.cshrc|ld\.so\.conf(?:\.d)?)(?:\/|$)/,
    high("persistence"),
  ],
  [/^\/(?:library|system\/library)\/(?:launchagents|launchdaemons|startupitems)(?:\/|$)/, critical("persistence")],
  [/^\/(?:boot|efi)(?:\/|$)/, critical("persistence")],
];

const systemStart = /^\/(?:proc|sys|etc|usr|lib|run|var|boot|efi|library|system)(?:\/|$)/;

/** Below a home directory. */
const atHome: readonly (readonly [RegExp, ProtectedPath])[] = [
  // Compiled code of our own, which runs with the next start.
  [/^\.cache\/tau(?:\/|$)/i, critical("persistence")],
  [/^\.ssh\/(?:authorized_keys2?|id_[\w-]+|rc|environment)$/i, critical("credential_change")],
  [/^\.ssh\/known_hosts/i, medium("credential_change")],
  [/^\.ssh(?:\/|$)/i, high("credential_change")],
  [
    /^\.(?:bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zshenv|zprofile|zlogin|zlogout|kshrc|cshrc|tcshrc|login|inputrc|xinitrc|xprofile|xsession|xsessionrc|pam_environment|pythonrc|pythonstartup|perltidyrc|irbrc|vimrc|gvimrc|emacs|exrc|nanorc|screenrc|tmux\.conf|gdbinit|lldbinit|gitconfig|hgrc|curlrc|wgetrc|yarnrc(?:\.yml)?|condarc|rprofile|mailcap|forward|procmailrc|envrc|bash_completion|zimrc|p10k\.zsh|ideavimrc|psqlrc|sqliterc|pryrc|pdbrc|ghci|iex\.exs|mavenrc|lessfilter|octaverc)$/i,
    high("persistence"),
  ],
  [/^\.(?:bashrc|zshrc|profile|zsh|bash|bash_completion)\.d\//i, high("persistence")],
  [/^\.git-?templates?(?:\/.*)?\/hooks\//i, high("persistence")],
  [
    /^\.(?:gradle\/init(?:\.gradle(?:\.kts)?$|\.d\/)|julia\/config\/startup\.jl$|i3\/|doom\.d\/|sbt\/.*plugins\/|jupyter\/[^/]*config[^/]*\.py$)/i,
    high("persistence"),
  ],
  [
    /^\.config\/(?:systemd|autostart|autostart-scripts|environment\.d|fish|zsh|bash|powershell|nvim|vim|emacs|git|plasma-workspace|upstart|pip|npm|direnv|nushell|tmux|i3|sway|hypr|openbox|awesome|bspwm|xmonad|kitty|wezterm|mise|bash_completion\.d)(?:\/|$)/i,
    high("persistence"),
  ],
  [/^library\/(?:launchagents|launchdaemons)(?:\/|$)/i, high("persistence")],
  [/^\.(?:vim|emacs\.d|ipython|oh-my-zsh|gnome2|kde\d?|vscode|vscode-server)(?:\/|$)/i, high("persistence")],
  [
    /^\.local\/(?:bin|share\/(?:systemd|applications|dbus-1|autostart|bash-completion|zsh|fish))(?:\/|$)/i,
    high("persistence"),
  ],
  [/^(?:bin|\.cargo\/(?:bin|config|env)|\.npm-global)(?:\/|$)/i, medium("persistence")],
];

/** Below the workspace and below a home directory. */
const anywhere: readonly (readonly [RegExp, ProtectedPath])[] = [
  [/(?:^|\/)\.(?:tau|pi|omp|openclaw)(?:\/|$)/i, critical("persistence")],
  [
    /(?:^|\/)\.(?:claude|codex|gemini|qwen|cursor|windsurf|factory|kimi|opencode)\/(?:settings[\w.-]*\.json|config\.(?:toml|json)|mcp\.json|hooks(?:\.json|\/.*)?|agents\/.*|commands\/.*|auth\.json)$/i,
    critical("persistence"),
  ],
  [/(?:^|\/)(?:\.mcp\.json|\.claude\.json)$/i, critical("persistence")],
  // What git runs, and what names it. Settings are changed with `git config`, which is judged by the key.
  ...runningPaths.map((pattern) => [pattern, planted] as const),
  ...leadingPaths.map((pattern) => [pattern, high("persistence")] as const),
  [
    /(?:^|\/)\.(?:vscode\/(?:tasks|launch)\.json|envrc|idea\/workspace\.xml|devcontainer\/devcontainer\.json|zed\/tasks\.json)$/i,
    high("persistence"),
  ],
  [/(?:^|\/)\.vscode\/settings\.json$/i, medium("persistence")],
  [/(?:^|\/)(?:sitecustomize|usercustomize)\.py$|site-packages\/[^/]+\.pth$/i, high("persistence")],
];

/** The list of the file tools has only such names. */
const mayBeListed = /\/\.|mise|opencode|crush|\.code-workspace|\.sublime-project/i;

/** Why a path may not be changed like any other one; undefined for ordinary files. */
export function findProtected(path: string, context: ExecContext): ProtectedPath | undefined {
  const lower = path.toLowerCase();
  if (lower.startsWith("/dev/") && isRawDevice(lower)) return critical("device_write");
  // Most paths are ordinary files of the workspace: then no pattern is tried at all.
  const found = systemStart.test(lower) ? find(system, lower) : undefined;
  if (found) return found;
  const { home, workspace } = context;
  const isOwnHome = path === home || isBelow(path, home);
  const below = isOwnHome ? path.slice(home.length + 1) : /^\/(?:root|(?:home|Users)\/[^/]+)\/(.+)$/.exec(path)?.[1];
  if (below !== undefined && !(isBelow(path, workspace) && !isOwnHome)) {
    const atHomePath = find(atHome, below);
    if (atHomePath) return atHomePath;
  }
  const named =
    isBelow(path, workspace) && isOwnWorktree(workspace, getAgentDir(context)) ? inWorkspace(path, context) : path;
  const general = /\/\.|\.git\/|\.(?:py|pth)$/i.test(named) ? find(anywhere, named) : undefined;
  if (general) return general;
  if (!isBelow(path, workspace))
    return path !== workspace && isCredentialPath(path, context) ? high("credential_change") : undefined;
  const isListed = mayBeListed.test(path) && isProtectedPath(path, { roots: [workspace], home });
  return isListed ? { ...high("persistence"), emptyTier: "medium" } : undefined;
}

/** The names of tau's own directory, which the workspace is in, say nothing about its files. */
const inWorkspace = (path: string, { workspace }: ExecContext): string => path.slice(workspace.length);

function find(rows: readonly (readonly [RegExp, ProtectedPath])[], path: string): ProtectedPath | undefined {
  return rows.find(([pattern]) => pattern.test(path))?.[1];
}

/** Reports a path to be asked about, since nobody can say before where it leads. */
export function reportUnresolved(path: string, scope: Scope, verb: string): void {
  const shown = toShown(path).replace(/^…link\//, "");
  report(scope, "medium", "opaque_exec", `It ${verb} ${shown}, which may be or lead through a link to another place.`);
}

/** Whether an archive or a repository that the script fetched may have a link at this path. */
function isForeign(path: string, { state }: Scope): boolean {
  for (const [directory, kind] of state.foreignDirectories)
    if (isBelow(path, directory) && (kind === "all" || path.slice(directory.length + 1).includes("/"))) return true;
  return false;
}

interface WriteOptions {
  isAppended?: boolean;
  /** Whether nothing is put there: an empty directory. */
  isEmpty?: boolean;
  /** Whether the name is only assumed: then places outside of the workspace are not reported again. */
  isGuess?: boolean;
}

/** Reports a write to a path that is not in the workspace or a temporary directory, or that is protected there. */
export function judgeWrite(path: string, scope: Scope, { isGuess = false, isEmpty = false }: WriteOptions = {}): void {
  const { context } = scope.analysis;
  if (isUnresolved(path) || (!isGuess && isForeign(path, scope))) reportUnresolved(path, scope, "writes to");
  const shown = toShown(path);
  const found = findProtected(path, context);
  if (found) {
    const tier = (isEmpty ? found.emptyTier : undefined) ?? found.tier;
    report(scope, tier, found.class, `It writes to ${shown}.`, { path });
    return;
  }
  if (/^\/dev\/(?:null|stdout|stderr|stdin|tty|fd\/\d+|pts\/\d+|ptmx|full|zero|u?random|shm(?:\/.*)?)$/.test(path))
    return;
  if (path.startsWith("/dev/")) {
    report(scope, "high", "device_write", `It writes to the device ${shown}.`);
    return;
  }
  if (isGuess) return;
  const zone = getZone(path, context);
  if (zone === "system" || zone === "root")
    report(scope, zone === "system" ? "high" : "medium", "persistence", `It changes the system at ${shown}.`, { path });
  else if (zone === "in-home" || zone === "home" || zone === "outside")
    report(scope, "medium", "persistence", `It writes to ${shown}, outside of the workspace.`, { path });
}

/** Judges the files that arguments name as written. */
export function judgeWrites(files: readonly Text[], scope: Scope, options?: WriteOptions): void {
  for (const file of files) for (const path of resolveAll(file, scope)) judgeWrite(path, scope, options);
}
