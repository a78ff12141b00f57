/**
 * Lists the settings of git and the paths in a git directory from which git runs programs. The sandbox undoes such
 * changes, and the classifier of commands asks before they are made. Pure.
 */

/** Keys whose value is a command, or a path from which git runs something; also those that decide where data goes. */
const running =
  /^(?:core\.(?:pager|editor|sshcommand|fsmonitor|hookspath|askpass|gitproxy|alternaterefscommand|attributesfile)|sequence\.editor|pager\..+|alias\..+|filter\..+\.(?:clean|smudge|process)|diff\..*(?:command|textconv|external)|merge\..+\.driver|mergetool\..+\.(?:cmd|path)|difftool\..+\.(?:cmd|path)|gpg\.(?:.+\.)?(?:program|defaultkeycommand)|gc\.recentobjectshook|hook\..+\.command|tar\..+\.command|init\.templatedir|include\.path|includeif\..+|uploadpack\.packobjectshook|remote\..+\.(?:uploadpack|receivepack|vcs|proxy)|protocol\..*allow|web\.browser|browser\..+|man\..+|trailer\..+\.(?:command|cmd)|interactive\.difffilter|sendemail\..+|ssh\.variant|credential\..+|credential|url\..+|http\..*(?:proxy|sslverify|extraheader|cookiefile)|http\.sslverify|submodule\..+\.update|safe\.directory|receive\..+|fsck\..+|imap\.tunnel|instaweb\..+|guitool\..+)$/i;

/** Keys that run nothing: who commits, what branches follow, and where remotes are. Most others can name a program. */
const harmless =
  /^(?:user\.(?:name|email|signingkey|useconfigonly)|branch\..+|remote\..+\.(?:url|fetch|pushurl|tagopt|prune))$/s;

/** Keys that `git init` and `git clone` write in a repository that had no configuration before. */
const initial =
  /^(?:core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks)|extensions\.(?:objectformat|refstorage)|init\.defaultbranch)$/;

/** They name a remote, or a place to push to. A transport that runs a program is refused by git itself. */
const places = /^(?:remote\..+\.(?:url|pushurl)|branch\..+\.(?:remote|pushremote))$/s;

const logins = /^(?:credential(?:\..*)?|url\..+|http\..*)$/i;

/** Keys in any case, as people write them. */
export const isRunningKey = (key: string): boolean => running.test(key);
export const isLoginKey = (key: string): boolean => logins.test(key);
/** Keys as git shows them, with section and key in lower case. */
export const isHarmlessKey = (key: string): boolean => harmless.test(key);
export const isInitialKey = (key: string): boolean => initial.test(key);
export const isPlaceKey = (key: string): boolean => places.test(key);

/** Names of a git directory that make git run a program, or read another directory that does. */
export const runningNames = "hooks config config.worktree commondir modules worktrees remotes branches";
export const configNames = ["config", "config.worktree"] as const;
/** The last two are where git looked for remotes long ago. It pushes to `origin` where nothing else is configured. */
export const comparedNames = ["hooks", "commondir", "remotes/origin", "branches/origin"] as const;

/** Paths of hooks and settings, also of submodules and worktrees: what is written there runs by itself later. */
export const runningPaths: readonly RegExp[] = [
  /(?:^|\/)\.git\/(?:modules\/(?:.*\/)?)?hooks(?:\/|$)/i,
  /(?:^|\/)\.git\/(?:modules\/(?:.*\/)?|worktrees\/[^/]+\/)?config(?:\.worktree)?(?:\.lock)?$/i,
];
/** Paths of what names a program or a git directory, of repositories without files of their own, and of a whole one. */
export const leadingPaths: readonly RegExp[] = [
  /(?:^|\/)\.git\/(?:.*\/)?(?:info\/attributes|rebase-merge\/[^/]+|rebase-apply\/[^/]+|sequencer\/todo|commondir)$/i,
  /[^/]\.git\/(?:hooks(?:\/|$)|config$)/i,
  /(?:^|\/)\.git$/i,
];
