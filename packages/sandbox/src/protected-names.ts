/**
 * Names in a workspace through which a command could run something outside of the sandbox later: hooks, start-up files,
 * and the configuration of editors and agents. The file tools refuse to write them, and the sandbox keeps commands from
 * changing them. Pure.
 */
import { relative } from "node:path";
import { foldName, foldNames, isWithin } from "@tau/tools/platform";
import { runningNames } from "./git/what-git-runs.ts";

const toPaths = (text: string): readonly string[] => text.trim().split(/\s+/);

/** They apply in the workspace itself, and for file tools also in any directory below. */
const anywhere = toPaths(`
.tau .pi .omp .claude .codex .cursor .gemini .qwen .opencode opencode.json opencode.jsonc .kiro .windsurf .continue
.factory .roo .kilocode .clinerules .crush.json crush.json .amazonq .junie .augment .trae .kimi
.agents .agent .copilot .github/copilot-instructions.md .github/instructions .github/hooks .github/agents .goose .goosehints
.amp .openhands .warp .cursorrules .windsurfrules .roomodes .roorules .kilocodemodes .continuerules .cline .codeium .cody
.codebuddy .codebuff .qoder .iflow .llxprt .rovodev .plandex .plandex-v2 .serena .tabnine .devin .jules .grok .forge .letta
.gptme .pearai .void .zencoder .crush .aider.model.settings.yml .ruler
.aider.conf.yml .mcp.json
.vscode/tasks.json .vscode/settings.json .vscode/launch.json .vscode/mcp.json .idea .fleet .zed .helix .devcontainer
.devcontainer.json .nvim.lua .nvimrc .exrc .lvimrc .dir-locals.el .dir-locals-2.el
.envrc .mise.toml mise.toml .mise.local.toml mise.local.toml .mise/config.toml .config/mise.toml .config/mise
.autoenv .autoenv.zsh .autoenv_leave.zsh .hg/hgrc .jj/repo/config.toml .sl/config
.vs/tasks.vs.json .vs/launch.vs.json .theia .nova .idx .gitpod.yml .lazy.lua .neoconf.json
.rtx.toml .rvmrc .shadowenv.d .flox .env.leave .autoenv_leave .autoenv.leave .hg/hgrc-not-shared .jj/workspace-config.toml
.pijul/config
`);

/** Names with these ends are protected like those: projects of editors, which name programs to run. */
const suffixes = [".code-workspace", ".sublime-project"];

/** Whether a name of one file or directory is protected by its end, in any spelling. */
export function hasProtectedSuffix(name: string): boolean {
  const folded = foldName(name);
  return suffixes.some((suffix) => folded.endsWith(suffix));
}

/** They apply in the workspace itself: below, such files are copies that nothing reads. */
const atRoot = toPaths(`
.bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc
.mkshrc .cshrc .tcshrc .login .inputrc .xprofile .xsession .xsessionrc .xinitrc .pam_environment .gitconfig .ssh .gnupg
.vimrc .emacs .tmux.conf .screenrc .netrc .pythonrc .Rprofile .RData
.Renviron .pdbrc .irbrc .pryrc .ghci .ocamlinit .iex.exs .erlang .octaverc .sbclrc
`);

/**
 * They are protected in a home directory: what shells, terminals, editors and interpreters run when they start,
 * programs that come first in the search path, and compiled code of our own. Many projects have some of them for other
 * reasons.
 */
const atHome = toPaths(`
.config/fish .config/autostart .config/systemd .config/environment.d .config/git .config/nvim .config/emacs .vim
.emacs.d .npmrc .pypirc .local/bin .local/share/applications bin
.bashrc.d .bash_completion .oh-my-zsh .zsh .config/bash .config/zsh .config/nushell .config/powershell
.config/starship.toml .config/direnv .config/tmux .config/kitty .config/alacritty .config/wezterm .wezterm.lua
.config/i3 .config/sway .config/hypr .config/hg .hgrc .config/jj .config/Code .vscode/extensions .vscode-server
.gdbinit .lldbinit .psqlrc .docker/cli-plugins .gradle/init.gradle .gradle/init.d .config/pip .condarc
.yarnrc .yarnrc.yml .nvm .pyenv .rbenv .asdf .sdkman .volta .bun .deno .npm-global .krew .rustup .cargo/bin .cargo/env
.cargo/config .cargo/config.toml .local/lib .local/share/dbus-1 .local/share/systemd .local/share/nvim
.local/share/mise .cache/tau .direnvrc .sqliterc
`);

const inGit = toPaths(runningNames).map((name) => `.git/${name}`);

/** Names that the sandbox protects, relative to the workspace. Git directories have rules of their own. */
export const protectedNames: readonly string[] = [...anywhere, ...atRoot];
/** The names that it protects besides, relative to a home directory that is in the workspace. */
export const protectedHomeNames: readonly string[] = atHome;
/** The names in the git directory of a workspace that it protects, relative to the workspace. */
export const protectedGitNames: readonly string[] = inGit;

/** By their first names, folded as in `foldNames`. */
type Index = ReadonlyMap<string, readonly (readonly string[])[]>;

interface Indexes {
  readonly anywhere: Index;
  readonly atRoot: Index;
  readonly atHome: Index;
}

let indexes: Indexes | undefined;

/** Built when a path is first checked: folding names takes a millisecond, and many runs write no file. */
const getIndexes = (): Indexes =>
  (indexes ??= {
    anywhere: toIndex([...anywhere, ...inGit]),
    atRoot: toIndex(atRoot),
    atHome: toIndex([...atRoot, ...atHome]),
  });

function toIndex(paths: readonly string[]): Index {
  const index = new Map<string, (readonly string[])[]>();
  for (const path of paths) {
    const [first = "", ...rest] = foldNames(path);
    index.set(first, [...(index.get(first) ?? []), rest]);
  }
  return index;
}

interface ProtectedRoots {
  /** The workspace and other directories in which tools may write: real paths. */
  readonly roots: readonly string[];
  readonly home: string;
}

/**
 * Whether writing to a real path would change a protected name: the name itself, or anything below it. True for all
 * spellings that some file system treats as the same name. A `.git` that is a file, as in a worktree, is one as well.
 */
export function isProtectedPath(realPath: string, { roots, home }: ProtectedRoots): boolean {
  const listed = getIndexes();
  return roots.some((root) => {
    if (!isWithin(root, realPath) || root === realPath) return false;
    const names = foldNames(relative(root, realPath));
    if (isListed(listed.atRoot, names)) return true;
    if (isWithin(home, realPath) && isListed(listed.atHome, foldNames(relative(home, realPath)))) return true;
    return names.some((name, index) => {
      const rest = names.slice(index);
      return (name === ".git" && rest.length === 1) || isListed(listed.anywhere, rest) || hasProtectedSuffix(name);
    });
  });
}

const isListed = (index: Index, [first = "", ...rest]: readonly string[]): boolean =>
  index.get(first)?.some((path) => path.every((name, at) => name === rest[at])) ?? false;
