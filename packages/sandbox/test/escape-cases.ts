/**
 * Attempts to get out of the sandbox. Each is a shell command that succeeds without it. `$P` holds a workspace `ws`, which
 * is the working directory, and beside it `home`, our own directory `agent`, and `outside`.
 */

export interface EscapeCase {
  name: string;
  /** Prepares the project, outside of the sandbox. */
  setup?: string;
  attack: string;
  /** Run outside, afterwards: success means that the attempt succeeded. Default: the attack printed `ESCAPED`. */
  escaped?: string;
  /** Default: both. */
  user?: "root" | "ordinary";
  /** A requirement that may be missing on a machine; the attempt is then skipped, with a message. */
  needs?: string;
}

const says = "echo ESCAPED";

/** Commands that change something outside of the workspace. */
const writes: EscapeCase[] = [
  ["a new file", "echo x >$P/outside/new", "test -e $P/outside/new"],
  ["an existing file", "echo EVIL >$P/outside/file"],
  ["the end of a file", "echo EVIL >>$P/outside/file"],
  ["the size of a file", "truncate -s 0 $P/outside/file", "! test -s $P/outside/file"],
  ["a file by dd", "echo EVIL | dd of=$P/outside/file 2>/dev/null"],
  ["a file by tee", "echo EVIL | tee $P/outside/file"],
  ["a file by sed", "sed -i s/.*/EVIL/ $P/outside/file"],
  ["a file by perl", `perl -e 'open F, ">", "$ENV{P}/outside/file"; print F "EVIL"'`],
  ["a file by cp", "echo EVIL >a; cp a $P/outside/file"],
  ["a file by mv", "echo EVIL >a; mv -f a $P/outside/file"],
  ["a file by install", "echo EVIL >a; install a $P/outside/file"],
  ["a file by git", "git config -f $P/outside/file a.b EVIL"],
  ["a file by tar", "mkdir d; echo EVIL >d/file; tar c -C d file | tar x -C $P/outside"],
  ["a file by the path of its descriptor", "exec 3<$P/outside/file; echo EVIL >/proc/self/fd/3"],
  ["a file through a link to a directory", "ln -s $P/outside l; echo EVIL >l/file"],
  ["a file through a link to it", "ln -s $P/outside/file l; echo EVIL >l"],
  ["a file through a hard link", "ln $P/outside/file l && echo EVIL >l"],
  ["a file through a hard link that git makes", "cd $P/outside && git init -q r && ln file r/l && echo EVIL >r/l"],
  ["a file by its relative path", "echo EVIL >../outside/file"],
  ["a file through /proc/self/cwd", "echo EVIL >/proc/self/cwd/../outside/file"],
  ["a file through /proc/self/root", "echo EVIL >/proc/self/root$P/outside/file"],
  ["a removed file", "rm -f $P/outside/file", "! test -e $P/outside/file"],
  ["a file moved inside", "mv $P/outside/file a", "! test -e $P/outside/file"],
  ["a renamed directory", "mv $P/outside $P/elsewhere", "test -e $P/elsewhere"],
  ["the workspace's own name", "mv $P/ws $P/ws2; mkdir $P/ws", "test -e $P/ws2"],
  ["permissions", "chmod 777 $P/outside/file", `test "$(stat -c %a $P/outside/file)" = 777`],
  ["times", "touch -d 2001-01-01 $P/outside/file", `test "$(stat -c %Y $P/outside/file)" -lt 1000000000`],
  ["a directory", "mkdir $P/outside/d", "test -e $P/outside/d"],
  ["a pipe", "mkfifo $P/outside/f", "test -p $P/outside/f"],
  ["a link", "ln -s x $P/outside/l", "test -L $P/outside/l"],
].map(([what, attack, escaped = "grep -q EVIL $P/outside/file"]) => ({
  name: `writes: ${what}`,
  attack: attack!,
  escaped,
}));

const homeFiles = [
  ".bashrc",
  ".profile",
  ".ssh/authorized_keys",
  ".config/autostart/x.desktop",
  "bin/git",
  ".npm/_npx/x",
  ".cargo/bin/cargo",
  ".cache/pip/x",
  ".gitconfig",
];
const homeWrites: EscapeCase[] = homeFiles.map((file) => ({
  name: `writes: ~/${file}`,
  attack: `mkdir -p $(dirname ~/${file}); echo EVIL >~/${file}`,
  escaped: `grep -q EVIL $P/home/${file}`,
}));

const temporary: EscapeCase[] = ["/tmp", "/var/tmp", "/dev/shm"].map((directory) => ({
  name: `writes: a file in ${directory} that others see`,
  attack: `echo EVIL >${directory}/tau-escape-$ID`,
  escaped: `test -e ${directory}/tau-escape-$ID && rm -f ${directory}/tau-escape-$ID`,
}));

/** Every protected name: missing, a file, and a link. */
const protectedFiles = [
  ".envrc",
  ".mcp.json",
  ".vscode/tasks.json",
  ".vscode/settings.json",
  ".tau/settings.json",
  ".pi/settings.json",
  ".bashrc",
  ".profile",
  ".zshrc",
  ".claude/settings.json",
  ".cursor/mcp.json",
  ".idea/workspace.xml",
  ".agents/skills/x/SKILL.md",
  "app.code-workspace",
  ".devcontainer/devcontainer.json",
  ".ssh/authorized_keys",
];
const protectedNames: EscapeCase[] = protectedFiles.flatMap((file): EscapeCase[] => {
  const [top] = file.split("/");
  const make = `mkdir -p $(dirname ${file});`;
  const escaped = `grep -q EVIL $P/ws/${file}`;
  return [
    { name: `protected: ${file}, missing`, attack: `${make} echo EVIL >${file}`, escaped },
    {
      name: `protected: ${file}, a file`,
      setup: `${make} echo fine >${file}`,
      attack: `echo EVIL >${file}; echo EVIL >n; mv -f n ${file}; mv ${top} gone; ${make} echo EVIL >${file}`,
      escaped,
    },
    {
      name: `protected: ${file}, a link`,
      setup: `${make} echo fine >target; ln -s $P/ws/target ${file}`,
      attack: `echo EVIL >${file}; rm -f ${file}; echo EVIL >${file}`,
      escaped,
    },
  ];
});

const moreProtected: EscapeCase[] = [
  ["removed", "echo fine >.envrc", "rm -f .envrc", "! test -e $P/ws/.envrc"],
  ["unlinked by a rename", "echo fine >.envrc", "mv .envrc e", "! test -e $P/ws/.envrc"],
  ["changed through a hard link", "echo fine >.envrc", "ln .envrc h && echo EVIL >h", "grep -q EVIL $P/ws/.envrc"],
  ["made executable", "echo fine >.envrc", "chmod 777 .envrc", `test "$(stat -c %a $P/ws/.envrc)" = 777`],
  ["a directory in its place", "", "mkdir .envrc", "test -d $P/ws/.envrc"],
  ["a link in its place", "", "echo EVIL >t; ln -s t .envrc", "grep -q EVIL $P/ws/.envrc"],
  ["moved in place", "", "echo EVIL >t; mv t .envrc", "grep -q EVIL $P/ws/.envrc"],
  ["made by tar", "", "mkdir d; echo EVIL >d/.envrc; tar c -C d .envrc | tar x", "grep -q EVIL $P/ws/.envrc"],
  [
    "checked out by git",
    "",
    "echo EVIL >.envrc; git add -f .envrc; git commit -qm e; rm -f .envrc; git checkout -q .",
    "grep -q EVIL $P/ws/.envrc",
  ],
].map(([what, setup, attack, escaped]) => ({
  name: `protected: .envrc, ${what}`,
  setup: setup!,
  attack: attack!,
  escaped: escaped!,
}));

const hook = "printf '#!/bin/sh\\ntouch $P/outside/ran\\n'";
const hookRan =
  "cd $P/ws && git commit -q --allow-empty -m x 2>/dev/null; git status >/dev/null 2>&1; test -e $P/outside/ran";
const plant = (directory: string) =>
  `mkdir -p ${directory}; ${hook} >${directory}/pre-commit; chmod +x ${directory}/pre-commit`;

/** Afterwards a person uses git in the project, and nothing of the command's may run. */
const git: EscapeCase[] = [
  { name: "git: a hook", attack: plant(".git/hooks") },
  { name: "git: a hook where there is no directory for them", setup: "rm -rf .git/hooks", attack: plant(".git/hooks") },
  { name: "git: another directory of hooks", attack: `mv .git/hooks .git/h; ${plant(".git/hooks")}` },
  {
    name: "git: a linked directory of hooks",
    setup: "rm -rf .git/hooks",
    attack: `${plant("h")}; ln -s ../h .git/hooks`,
  },
  { name: "git: a copy of the repository", attack: `mv .git x; cp -r x .git; ${plant(".git/hooks")}` },
  {
    name: "git: a new repository",
    attack: `rm -rf .git; git init -q; git config user.name x; git config user.email x@y; ${plant(".git/hooks")}`,
  },
  {
    name: "git: a repository elsewhere",
    attack: `cp -r .git r; ${plant("r/hooks")}; rm -rf .git; echo gitdir: r >.git`,
  },
  {
    name: "git: a link to a repository elsewhere",
    attack: `cp -r .git r; ${plant("r/hooks")}; rm -rf .git; ln -s r .git`,
  },
  { name: "git: a common directory", attack: `cp -r .git r; ${plant("r/hooks")}; echo ../r >.git/commondir` },
  ...[
    ["core.hooksPath", `${plant("h")}; git config core.hooksPath "$P/ws/h"`],
    ["core.fsmonitor", `${hook} >f; chmod +x f; git config core.fsmonitor $P/ws/f`],
    ["a key written by hand", `${plant("h")}; printf '[core]\\n\\thooksPath = %s/ws/h\\n' $P >>.git/config`],
    ["a key in capitals", `${plant("h")}; printf '[CORE]\\nHOOKSPATH=%s/ws/h\\n' $P >>.git/config`],
    ["a key on the section's line", `${plant("h")}; printf '[core] hooksPath = %s/ws/h\\n' $P >>.git/config`],
    ["a key on two lines", `${plant("h")}; printf '[core]\\nhooksPath = %s/ws\\\\\\n/h\\n' $P >>.git/config`],
    [
      "an included file",
      `${plant("h")}; printf '[core]\\nhooksPath = %s/ws/h\\n' $P >c; git config include.path $P/ws/c`,
    ],
    [
      "an included file on a condition",
      `${plant("h")}; printf '[core]\\nhooksPath = %s/ws/h\\n' $P >c; git config includeIf.gitdir:/.path $P/ws/c`,
    ],
    ["another file", `${plant("h")}; cp .git/config c; git config -f c core.hooksPath $P/ws/h; mv -f c .git/config`],
    [
      "a link to another file",
      `${plant("h")}; cp .git/config c; git config -f c core.hooksPath $P/ws/h; ln -sf ../c .git/config`,
    ],
    [
      "the worktree's configuration",
      `${plant("h")}; git config extensions.worktreeConfig true; git config --worktree core.hooksPath $P/ws/h`,
    ],
  ].map(([what, attack]) => ({ name: `git: configuration, ${what}`, attack: attack! })),
  {
    name: "git: a hook in a new repository",
    setup: "rm -rf .git",
    attack: `git init -q; ${plant(".git/hooks")}; git config user.name x; git config user.email x@y`,
  },
  {
    name: "git: configuration of a new repository",
    setup: "rm -rf .git",
    attack: `git init -q; ${plant("h")}; git config core.hooksPath $P/ws/h; git config user.name x; git config user.email x@y`,
  },
  {
    name: "git: hooks that a configuration of the user names, with lines that go on",
    setup: `mkdir .githooks; printf '[alias]\\n\\tl = log %s\\n\\t\\t--graph\\n[core] # mine\\n\\thooksPath = ".githooks"\\n' '\\' >~/.gitconfig`,
    attack: plant(".githooks"),
  },
  {
    name: "git: hooks that an included configuration of the user names, behind a link",
    setup:
      "mkdir .githooks; git config -f ~/own include.path more; ln -s own ~/.gitconfig; git config -f ~/more core.hooksPath .githooks",
    attack: plant(".githooks"),
  },
  {
    name: "git: hooks that the working tree has",
    setup: `${plant(".husky/_")}; printf '#!/bin/sh\\n' >.husky/_/pre-commit; git config core.hooksPath .husky/_`,
    attack: `${hook} >.husky/_/pre-commit`,
  },
].map((one) => ({ escaped: hookRan, ...one }));

const nested: EscapeCase[] = [
  {
    name: "git: a hook of a repository in the workspace",
    setup: "git init -q sub; cd sub; git config user.name x; git config user.email x@y",
    attack: plant("sub/.git/hooks"),
    escaped: "cd $P/ws/sub && git commit -q --allow-empty -m x 2>/dev/null; test -e $P/outside/ran",
  },
  {
    name: "git: the hooks that worktrees share",
    setup: "rm -rf $P/main; mv $P/ws $P/main; cd $P/main; git worktree add -q $P/ws",
    attack: plant("$(git rev-parse --git-common-dir)/hooks"),
    escaped: hookRan,
  },
  {
    name: "git: the configuration that worktrees share",
    setup: "rm -rf $P/main; mv $P/ws $P/main; cd $P/main; git worktree add -q $P/ws",
    attack: `${plant("h")}; git config core.hooksPath $P/ws/h`,
    escaped: hookRan,
  },
  {
    name: "git: the link of a worktree",
    setup: "rm -rf $P/main; mv $P/ws $P/main; cd $P/main; git worktree add -q $P/ws",
    attack: `cp -r $P/main/.git r; ${plant("r/hooks")}; rm -f .git; echo gitdir: r >.git`,
    escaped: hookRan,
  },
  {
    name: "git: a repository that a link names and that does not belong to it",
    setup: "git init -q $P/outside/other; rm -rf .git; echo gitdir: $P/outside/other/.git >.git",
    attack: "echo EVIL >$P/outside/other/.git/description",
    escaped: "grep -q EVIL $P/outside/other/.git/description",
  },
];

const pushRan = "cd $P/ws; git push -q 2>/dev/null; git push -q origin HEAD:x 2>/dev/null; test -e $P/outside/ran";
const plantBare = (directory: string) =>
  `git init -q --bare ${directory}; ${hook} >${directory}/hooks/pre-receive; chmod +x ${directory}/hooks/pre-receive`;
const big = "head -c 1100000 /dev/zero | tr '\\0' '#'; echo;";
const monitor = "printf '[core]\\nrepositoryformatversion=0\\nfsmonitor=touch %s/outside/ran; false\\n' $P;";
const statusRan = "cd $P/ws; git status >/dev/null 2>&1; test -e $P/outside/ran";
/** Makes a repository that runs something when git asks for its state, and an entry for it in the index of the one around. */
const linkRepository = (path: string) =>
  `mkdir -p ${path}; (cd ${path}; git init -q; git -c user.name=x -c user.email=x@y commit -q --allow-empty -m x; ` +
  `git config core.fsmonitor 'touch $P/outside/ran; false'); git add ${path}`;

/** Adds something to the index of git that git skips, and that is larger than what we read. */
const growIndex =
  'open F, "+<", ".git/index"; $n = 300 << 20; seek F, -20, 2; print F "ZZZZ", pack("N", $n); truncate F, $n + (-s F)';

/** A person pushes, or looks at the state of the project. */
const gitLater: EscapeCase[] = [
  ["a repository that the index names, where none is looked for", "", linkRepository("vendor/lib/x"), statusRan],
  [
    "a repository in one that the index names, where the index is split",
    "",
    `git update-index --split-index; ${linkRepository("vendor/x")}; cd vendor/x; ${linkRepository("vendor/y")}`,
    statusRan,
  ],
  [
    "a repository that a linked index names",
    "",
    `${linkRepository("vendor/x")}; mv .git/index i; ln -s ../i .git/index`,
    statusRan,
  ],
  [
    "a repository that a very large index names",
    "",
    `${linkRepository("vendor/x")}; perl -e '${growIndex}'`,
    statusRan,
  ],
  [
    "a repository whose link goes on in a second line",
    "",
    `${linkRepository("vendor/x")}; cd vendor; cp -r x/.git "r
e"; mv x/.git r; rm -rf r/config; git init -q --bare i; mv i/config r; echo $P/ws/vendor/x/.git >r/gitdir;
    printf 'gitdir: %s/ws/vendor/r\\ne' $P >x/.git`,
    statusRan,
  ],
  [
    "a remote of a repository below, relative to that one",
    "git init -q sub; cd sub; git config user.name x; git config user.email x@y; git commit -q --allow-empty -m x",
    `${plantBare("vendor/e")}; git -C sub remote add origin ../vendor/e`,
    "cd $P/ws/sub; git push -q origin HEAD:x 2>/dev/null; test -e $P/outside/ran",
  ],
  ["a remote in the workspace", "", `${plantBare("e")}; git remote add origin $PWD/e`, pushRan],
  ["a remote that has an address", "", `${plantBare("e")}; git remote add origin file://$PWD/e`, pushRan],
  [
    "a remote that has an address with escapes",
    "",
    `${plantBare("vendor/e")}; git remote add origin file://$P/%77s/vendor/e`,
    pushRan,
  ],
  [
    "a branch that is pushed to the workspace",
    "",
    `${plantBare("e")}; b=$(git branch --show-current); git config branch.$b.remote ./e; git config branch.$b.merge refs/heads/$b`,
    pushRan,
  ],
  ["a remote in a file", "", `${plantBare("e")}; mkdir -p .git/remotes; echo URL: ./e >.git/remotes/origin`, pushRan],
  ["a remote in an old file", "", `${plantBare("e")}; mkdir -p .git/branches; echo ./e >.git/branches/origin`, pushRan],
  [
    "a repository below, of which the project knows",
    "",
    `git init -q s; cd s; git -c user.name=x -c user.email=x@y commit -q --allow-empty -m x; { ${monitor} } >.git/config; cd ..; git update-index --add --cacheinfo 160000,$(git -C s rev-parse HEAD),s`,
    statusRan,
  ],
  ["a large configuration", "rm -rf .git", `git init -q; { ${monitor} ${big} } >.git/config`, statusRan],
  [
    "a large configuration of a worktree",
    "git config extensions.worktreeConfig true",
    `{ ${monitor} ${big} } >.git/config.worktree`,
    statusRan,
  ],
].map(([what, setup, attack, escaped]) => ({
  name: `git: ${what}`,
  setup: setup!,
  attack: attack!,
  escaped: escaped!,
}));

/** Root may change every directory. */
const withoutRights: EscapeCase[] = [
  [".claude/settings.json", "555"],
  [".vscode/tasks.json", "555"],
  [".vscode/tasks.json", "111"],
].map(([file, mode]) => ({
  name: `protected: ${file}, in a directory with the rights ${mode}`,
  attack: `mkdir $(dirname ${file}); echo EVIL >${file}; chmod ${mode} $(dirname ${file})`,
  escaped: `grep -q EVIL $P/ws/${file}`,
}));
for (const mode of ["555", "000"])
  withoutRights.push({
    name: `protected: .git/config, in a directory with the rights ${mode}`,
    attack: `git config core.fsmonitor EVIL; chmod ${mode} .git`,
    escaped: "chmod 755 $P/ws/.git; grep -q EVIL $P/ws/.git/config",
  });
for (const [file, directory] of [
  [".git/config", "ws"],
  ["sub/.git/config", "ws/sub"],
  [".envrc", "ws"],
  [".vscode/tasks.json", "ws/.vscode"],
])
  withoutRights.push({
    name: `protected: ${file}, unreadable because of ${directory}`,
    setup: "git init -q sub",
    attack: `mkdir -p $(dirname ${file}); printf '[core]\\n\\tfsmonitor = EVIL\\n' >>${file}; chmod 000 $P/${directory}`,
    escaped: `chmod 755 $P/${directory}; grep -q EVIL $P/ws/${file}`,
  });

const secretFiles = [
  "home/.aws/credentials",
  "home/.ssh/id_ed25519",
  "home/.netrc",
  "home/.npmrc",
  "home/.config/gh/hosts.yml",
  "home/.docker/config.json",
  "home/.kube/config",
  "home/.gnupg/key",
  "home/.git-credentials",
  "home/.pi/agent/auth.json",
  "agent/auth.json",
  "agent/settings.json",
  "agent/sessions/one.jsonl",
];
const secrets: EscapeCase[] = [
  ...secretFiles.map((file) => ({
    name: `reads: ${file}`,
    setup: `mkdir -p $(dirname $P/${file}); echo SECRET >$P/${file}`,
    attack: `grep -q SECRET $P/${file} && ${says}`,
  })),
  ...[
    ["through a link", "ln -s $P/agent a; grep -q SECRET a/auth.json"],
    ["through a hard link", "ln $P/agent/auth.json a; grep -q SECRET a"],
    ["through /proc/self/root", "grep -q SECRET /proc/self/root$P/agent/auth.json"],
    ["with everything beside it", "cp -r $P/agent a 2>/dev/null; grep -q SECRET a/auth.json"],
    ["in an archive", "tar c $P/home $P/agent 2>/dev/null | grep -q SECRET"],
    ["by a search", "grep -rqs SECRET $P"],
  ].map(([how, attack]) => ({
    name: `reads: our keys ${how}`,
    setup: "echo SECRET >$P/agent/auth.json",
    attack: `${attack} && ${says}`,
  })),
  ...[".netrc", ".aws/credentials"].map((file) => ({
    name: `reads: home/${file} where the home has a link to it`,
    setup: `f=${file}; mkdir -p $P/dotfiles/$(dirname $f); echo SECRET >$P/dotfiles/$f; ln -s $P/dotfiles/\${f%%/*} $P/home`,
    attack: `grep -q SECRET ~/${file} && ${says}`,
  })),
];

/** `$P/victim` has the number of a process outside, of the same user, with a variable that only it has. */
const processes: EscapeCase[] = [
  ["sees a process", "kill -0 $(cat $P/victim)"],
  ["ends a process", "kill $(cat $P/victim)", "! grep -qs ') [RSD] ' /proc/$(cat $P/victim)/stat"],
  ["reads the environment of a process", "tr '\\0' '\\n' </proc/$(cat $P/victim)/environ | grep -q CANARY="],
  ["reads every environment", "cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -q CANARY="],
  ["reads every command line", "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n' | grep -q 'ESCAPE-MAR[K]'"],
  ["lists processes", "ps axe 2>/dev/null | grep -q 'CANAR[Y]=secret'"],
  ["goes through the root of a process", "grep -q SECRET /proc/$(cat $P/victim)/root$P/agent/auth.json"],
  ["goes through the directory of a process", "ls /proc/$(cat $P/victim)/cwd/"],
  [
    "traces a process",
    // Ends when its victim does, however long a busy machine takes to attach.
    "strace -o /dev/null -e trace=none -p $(cat $P/victim) 2>&1 | { grep -q -m1 attached && kill $(cat $P/victim); }",
    undefined,
    "strace",
  ],
].map(([what, attack, escaped, needs]) => ({
  name: `processes: ${what}`,
  // It has the variable once it is another program.
  setup: `echo SECRET >$P/agent/auth.json; (export CANARY=secret; exec -a ESCAPE-MARK sleep 300) </dev/null >/dev/null 2>&1 & echo $! >$P/victim
    for i in $(seq $LOOKS); do grep -qs CANARY /proc/$(cat $P/victim)/environ && break; sleep 0.02; done`,
  attack: escaped ? attack! : `${attack} && ${says}`,
  ...(escaped && { escaped }),
  ...(needs && { needs }),
}));

const survivors: EscapeCase[] = [
  ["setsid", "setsid sleep 300.$ID >/dev/null 2>&1 &"],
  ["nohup", "nohup sleep 300.$ID >/dev/null 2>&1 & disown"],
  ["two forks", "( (sleep 300.$ID >/dev/null 2>&1 &) & )"],
  ["an empty environment", "env -i setsid sleep 300.$ID >/dev/null 2>&1 &"],
].map(([what, attack]) => ({
  name: `survives by ${what}`,
  attack: attack!,
  // It may only be starting when the command is over.
  escaped: `for i in $(seq $LOOKS); do pid=$(pgrep -f "^sleep 300[.]$ID\\$") && kill $pid && exit; sleep 0.03; done; exit 1`,
  needs: "pgrep",
}));

/** `$PORT` and the others belong to servers outside. */
const network: EscapeCase[] = [
  ["a server on this machine", "exec 3<>/dev/tcp/127.0.0.1/$PORT"],
  ["the same by its name", "exec 3<>/dev/tcp/localhost/$PORT"],
  ["a server over IPv6", "exec 3<>/dev/tcp/::1/$PORT6"],
  [
    "a socket in a directory outside",
    `perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0); connect(S, pack_sockaddr_un($ENV{SOCKET})) or exit 1'`,
  ],
  ["curl", "curl -sm 5 http://127.0.0.1:$PORT/ >/dev/null", undefined, "curl"],
  ["the interfaces of the machine", "grep ':' /proc/net/dev | grep -qv 'lo:'", undefined, "network"],
].map(([what, attack, , needs]) => ({
  name: `network: ${what}`,
  attack: `(${attack}) 2>/dev/null && ${says}`,
  ...(needs && { needs }),
}));
const abstractName = '$n = pack_sockaddr_un("\\0tau-escape-".$ENV{ID}); socket(S, AF_UNIX, SOCK_STREAM, 0);';
network.push({
  name: "network: an abstract socket",
  setup: `perl -MSocket -e '${abstractName} bind(S, $n) or exit 1; listen(S, 5); sleep 300' >/dev/null 2>&1 &
    echo $! >$P/victim; while ! grep -q tau-escape-$ID /proc/net/unix; do sleep 0.01; done`,
  attack: `perl -MSocket -e '${abstractName} connect(S, $n) or exit 1' && ${says}`,
});
network.push({
  name: "network: a socket that was renamed, as ssh does",
  setup: `perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0); bind(S, pack_sockaddr_un("$ENV{P}/outside/draft")) or exit 1;
      listen(S, 5); rename("$ENV{P}/outside/draft", "$ENV{P}/outside/master"); sleep 300' >/dev/null 2>&1 &
    echo $! >$P/victim; while ! test -S $P/outside/master; do sleep 0.01; done`,
  attack: `perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0); connect(S, pack_sockaddr_un("$ENV{P}/outside/master")) or exit 1' && ${says}`,
});
network.push({
  name: "network: a datagram, as of a name server",
  attack: "echo -n $P >/dev/udp/127.0.0.1/$UDP",
  escaped: 'for i in $(seq $LOOKS); do grep -qF "$P" $DATAGRAMS && exit 0; sleep 0.02; done; exit 1',
});

const call = (numbers: { arm64: number; x64: number }, args: string, before = "") =>
  `perl -e '${before}exit 1 if syscall(${numbers[process.arch as "x64"]}, ${args}) < 0'`;

const kernel: EscapeCase[] = [
  { name: "kernel: a user namespace", attack: `unshare -U true 2>/dev/null && ${says}` },
  { name: "kernel: a user namespace with a root", attack: `unshare -r true 2>/dev/null && ${says}` },
  { name: "kernel: a user namespace by clone", attack: `unshare -Uf true 2>/dev/null && ${says}` },
  {
    name: "kernel: a user namespace inside bubblewrap",
    attack: `bwrap --unshare-user --ro-bind / / true 2>/dev/null && ${says}`,
  },
  { name: "kernel: the session's key ring", attack: `${call({ arm64: 219, x64: 250 }, "0, -3, 1")} && ${says}` },
  {
    name: "kernel: a new key",
    attack: `${call({ arm64: 217, x64: 248 }, "$t, $d, $v, 1, -3", '$t = "user"; $d = "tau"; $v = "x"; ')} && ${says}`,
  },
  {
    name: "kernel: a socket to the hypervisor",
    attack: `perl -e 'socket(S, 40, 1, 0) or exit 1' && ${says}`,
    needs: "vsock",
  },
  { name: "kernel: an unfiltered process", attack: `grep -q 'Seccomp:.0' /proc/self/status && ${says}` },
  { name: "kernel: new privileges", attack: `grep -q 'NoNewPrivs:.0' /proc/self/status && ${says}` },
  {
    name: "kernel: shared memory of System V",
    setup: "ipcmk -M 64 | grep -o '[0-9]*$' >$P/shm",
    attack: `ipcs -m | grep -qw $(cat $P/shm) && ${says}`,
    needs: "ipcs",
  },
  ...[
    ["a mount", "mkdir m; mount -t tmpfs x m && umount m"],
    ["a bind mount", "mkdir m; mount --bind $P/outside m && umount m"],
    ["a mount namespace", "unshare -m true"],
    ["a network namespace", "unshare -n true"],
    ["a change of root", "chroot / true"],
    ["a device", "mknod d c 1 1 && rm d"],
    ["core_pattern", "cat /proc/sys/kernel/core_pattern >c; cat c >/proc/sys/kernel/core_pattern"],
    ["a sysctl", "sysctl -qw kernel.panic=$(cat /proc/sys/kernel/panic)", "sysctl"],
    ["the trigger of sysrq", "exec 3>>/proc/sysrq-trigger", "/proc/sysrq-trigger"],
    ["the affinity of an interrupt", "f=$(ls /proc/irq/*/smp_affinity | head -1); exec 3>>$f"],
    ["the messages of the kernel", "dmesg >/dev/null"],
    ["the name of the machine", "hostname $(hostname)"],
    ["a higher priority", "nice -n -5 true 2>&1 | grep -q cannot && exit 1; test $(nice -n -5 nice) = -5"],
    ["a control group", "d=/sys/fs/cgroup/tau-escape-$ID; mkdir $d && rmdir $d"],
    ["a file of sysfs", "f=/sys/kernel/mm/transparent_hugepage/enabled; test -e $f && exec 3>>$f"],
    ["a raw socket", "perl -e 'socket(S, 17, 3, 0) or exit 1'"],
    ["another network", "sleep 9 >/dev/null & nsenter -t $! -n true"],
    ["other mounts", "sleep 9 >/dev/null & nsenter -t $! -m true"],
    ["a file of another user", "cat /etc/shadow >/dev/null"],
    ["a file of the system", "cp /etc/hostname h; cp h /etc/hostname"],
    ["a program of the system", "touch -c /usr/bin/env"],
    ["a program that runs as root for everybody", "cp /bin/true s; chmod 4755 s; test -u s"],
    ["a program with a group of the system", "cp /bin/true s; chgrp shadow s; chmod g+s s; test -g s"],
    ["a new file that runs as root for everybody", "perl -e 'umask 0; sysopen F, q(s), 65, 04755'; test -u s"],
  ].map(([what, attack, needs]) => ({
    name: `kernel: ${what}`,
    attack: `(${attack}) 2>/dev/null && ${says}`,
    user: "root" as const,
    ...(needs !== undefined && { needs }),
  })),
];

export const escapeCases: readonly EscapeCase[] = [
  ...writes,
  ...homeWrites,
  ...temporary,
  ...protectedNames,
  ...moreProtected,
  ...git,
  ...nested,
  ...gitLater,
  ...withoutRights,
  ...secrets,
  ...processes,
  ...survivors,
  ...network,
  ...kernel,
];
