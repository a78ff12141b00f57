import { describe, expect, test } from "vitest";
import { isProtectedPath, protectedHomeNames, protectedNames } from "./protected-names.ts";

const roots = { roots: ["/src/app", "/tmp"], home: "/home/me" };

const toNames = (text: string): string[] => text.trim().split(/\s+/);

describe("a protected path", () => {
  test.each([
    "/src/app/.git/hooks/pre-commit",
    "/src/app/.git/config",
    "/src/app/.git/modules/a/config",
    "/src/app/.git",
    "/src/app/.GIT/Hooks/pre-commit",
    "/src/app/sub/.git/hooks/x",
    "/src/app/.tau/settings.json",
    "/src/app/.pi",
    "/src/app/.envrc",
    "/src/app/packages/a/.envrc",
    "/src/app/.vscode/tasks.json",
    "/src/app/.VSCode/Tasks.json",
    "/src/app/.mcp.json",
    "/src/app/.bashrc",
    "/src/app/.claude/settings.json",
    "/src/app/app.code-workspace",
    "/src/app/sub/My App.Code-Workspace",
    "/src/app/app.sublime-project",
    "/src/app/.agents/skills/x/SKILL.md",
  ])("%s", (path) => {
    expect(isProtectedPath(path, roots)).toBe(true);
  });

  test.each([
    "/src/app",
    "/src/app/index.ts",
    "/src/app/.gitignore",
    "/src/app/.github/workflows/ci.yml",
    "/src/app/.git/info/exclude",
    "/src/app/.vscode/extensions.json",
    "/src/app/.env",
    "/src/app/code-workspace.md",
    "/src/app/dotfiles/.bashrc",
    "/src/app/bin/run",
    "/src/app/.npmrc",
    "/elsewhere/.envrc",
  ])("is not %s", (path) => {
    expect(isProtectedPath(path, roots)).toBe(false);
  });

  const anywhere = toNames(`
    .tau .pi .omp .claude .codex .cursor .gemini .qwen .opencode opencode.json opencode.jsonc .kiro .windsurf .continue
.factory .roo .kilocode .clinerules .crush.json crush.json .amazonq .junie .augment .trae .kimi
    .agents .agent .copilot .github/copilot-instructions.md .github/instructions .github/hooks .github/agents .goose .goosehints
.amp .openhands .warp .cursorrules .windsurfrules .roomodes .roorules .kilocodemodes .continuerules .cline .codeium .cody
.codebuddy .codebuff .qoder .iflow .llxprt .rovodev .plandex .plandex-v2 .serena .tabnine .devin .jules .grok .forge .letta
.gptme .pearai .void .zencoder .crush .aider.model.settings.yml .ruler
    .aider.conf.yml .mcp.json .vscode/tasks.json .vscode/settings.json .vscode/launch.json .vscode/mcp.json .idea .fleet
    .zed .helix .devcontainer .devcontainer.json .nvim.lua .nvimrc .exrc .lvimrc .dir-locals.el .dir-locals-2.el .envrc
    .mise.toml mise.toml .mise.local.toml mise.local.toml .mise/config.toml .config/mise.toml .config/mise
.autoenv .autoenv.zsh .autoenv_leave.zsh .hg/hgrc .jj/repo/config.toml .sl/config .vs/tasks.vs.json .vs/launch.vs.json .theia .nova .idx .gitpod.yml .lazy.lua .neoconf.json
.rtx.toml .rvmrc .shadowenv.d .flox .env.leave .autoenv_leave .autoenv.leave .hg/hgrc-not-shared .jj/workspace-config.toml
.pijul/config
    .git .git/hooks .git/config .git/config.worktree .git/commondir
    .git/modules .git/worktrees .git/remotes .git/branches`);
  const atRoot = toNames(`
    .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout
    .kshrc .mkshrc .cshrc .tcshrc .login .inputrc .xprofile .xsession .xsessionrc .xinitrc .pam_environment .gitconfig
    .ssh .gnupg .vimrc .emacs .tmux.conf .screenrc .netrc .pythonrc .Rprofile .RData
    .Renviron .pdbrc .irbrc .pryrc .ghci .ocamlinit .iex.exs .erlang .octaverc .sbclrc`);
  const atHome = toNames(`
    .config/fish .config/autostart .config/systemd .config/environment.d .config/git .config/nvim .config/emacs .vim
    .emacs.d .npmrc .pypirc .local/bin .local/share/applications bin
    .bashrc.d .bash_completion .oh-my-zsh .zsh .config/bash .config/zsh .config/nushell .config/powershell
    .config/starship.toml .config/direnv .config/tmux .config/kitty .config/alacritty .config/wezterm .wezterm.lua
    .config/i3 .config/sway .config/hypr .config/hg .hgrc .config/jj .config/Code .vscode/extensions .vscode-server
    .gdbinit .lldbinit .psqlrc .docker/cli-plugins .gradle/init.gradle .gradle/init.d .config/pip .condarc
    .yarnrc .yarnrc.yml .nvm .pyenv .rbenv .asdf .sdkman .volta .bun .deno .npm-global .krew .rustup .cargo/bin .cargo/env
    .cargo/config .cargo/config.toml .local/lib .local/share/dbus-1 .local/share/systemd .local/share/nvim
    .local/share/mise .cache/tau .direnvrc .sqliterc`);

  test("is each of these names, in the directories in which programs read it", () => {
    const find = (names: readonly string[], directory: string, home = "/home/me") =>
      names.filter((name) => isProtectedPath(`${directory}/${name}`, { roots: ["/src/app"], home }));
    expect(find(anywhere, "/src/app")).toEqual(anywhere);
    expect(find(anywhere, "/src/app/a/b")).toEqual(anywhere);
    expect(find(atRoot, "/src/app")).toEqual(atRoot);
    expect(find(atRoot, "/src/app/a")).toEqual([]);
    expect(find(atHome, "/src/app")).toEqual([]);
    expect(find([...atHome, ...atRoot], "/src/app/me", "/src/app/me")).toEqual([...atHome, ...atRoot]);
  });

  test("is protected from commands, too", () => {
    const inGit = (name: string) => name === ".git" || name.startsWith(".git/");
    expect(protectedNames).toEqual([...anywhere.filter((name) => !inGit(name)), ...atRoot]);
    expect(protectedHomeNames).toEqual(atHome);
  });

  test("may be one of a home directory that is a root", () => {
    const home = { roots: ["/home/me"], home: "/home/me" };
    expect(isProtectedPath("/home/me/bin/git", home)).toBe(true);
    expect(isProtectedPath("/home/me/.config/fish/config.fish", home)).toBe(true);
    expect(isProtectedPath("/home/me/project/bin/git", home)).toBe(false);
  });
});
