/** git, and programs that install hooks of it. */
import type { Effect, Programs } from "./program.ts";

const hooks: Effect = { does: "medium persistence", says: "$n installs hooks of git." };
/** Options of all subcommands that fetch. */
const cloneLetters = "b:c:u:j:o:qvnls";
const cloneOptions =
  "upload-pack= exec= template= config= branch= depth= reference= origin= separate-git-dir= jobs= filter= recurse-submodules=? bare mirror single-branch no-checkout shallow-since= server-option= initial-branch= object-format=";
const codeOptions = "onto= message= file= author= date= strategy= extcmd= tool= gui cached";

export const git: Programs = {
  git: {
    is: ["namesFiles", "otherO", "showsText"],
    options:
      "C:c:pPvh exec-path=? git-dir= work-tree= namespace= config-env= super-prefix= attr-source= paginate no-pager bare no-replace-objects literal-pathspecs glob-pathspecs no-optional-locks html-path man-path info-path version help list-cmds=",
    stopsAtOperand: true,
    rules: ["git"],
    subcommands: {
      "add stage commit tag notes hash-object update-index": { stages: true },
      stash: { changesFiles: true, discards: { line: /^(?:$|push|save|-)/ }, stages: true },
      "am apply": { changesFiles: true, stages: true },
      merge: { changesFiles: true },
      reset: { changesFiles: true, discards: { arg: /^--(?:hard|merge|keep)$/ } },
      checkout: { changesFiles: true, discards: { arg: /^(?:-\w*f|--force|--|\.)$/ } },
      switch: { changesFiles: true, discards: { arg: /^(?:-\w*f|--force|--discard-changes)$/ } },
      restore: {
        changesFiles: true,
        discards: { line: /(?:^| )--worktree(?: |$)|^(?!(?:.* )?(?:-S|--staged)(?: |$))/s },
      },
      "read-tree": { changesFiles: true, discards: { arg: /^(?:-\w*u|--reset)$/ } },
      "checkout-index": { changesFiles: true, discards: { arg: /^-\w*f|^--force$/ } },
      rm: { changesFiles: true, discards: { unless: /^(?:--cached|-n|--dry-run)$/ } },
      clean: {
        options: "dfinqxXe: dry-run force interactive quiet exclude=",
        changesFiles: true,
        discards: { arg: /^-\w*f|^--force$/, unless: /^-\w*n|^--dry-run$/ },
        rule: "clean",
      },
      "push send-pack": {
        options:
          "fnquvd46o: repo= receive-pack= exec= push-option= all mirror tags follow-tags dry-run force force-with-lease=? delete prune set-upstream no-verify verbose quiet progress atomic porcelain signed=? thin recurse-submodules=",
        runs: "receive-pack exec",
        rule: "push",
      },
      "fetch ls-remote": { options: `${cloneLetters} ${cloneOptions}`, runs: "upload-pack exec", rule: "fetch" },
      pull: { options: `${cloneLetters} ${cloneOptions}`, runs: "upload-pack exec", changesFiles: true, rule: "fetch" },
      clone: { options: `${cloneLetters} ${cloneOptions}`, runs: "upload-pack exec", rule: "clone" },
      init: { options: `b:q ${cloneOptions}`, runs: "upload-pack exec", rule: "init" },
      "archive format-patch": {
        options: "o:n:v: output= output-directory= exec= remote= format= prefix=",
        code: "exec",
        rule: "exportTo",
      },
      bundle: { options: "b:B: reason= version=", rule: "createBundle" },
      worktree: { options: "b:B:f reason= force", rule: "worktree" },
      remote: { rule: "remote" },
      config: {
        options:
          "f:lez file= blob= type= default= global system local worktree get get-all get-regexp get-urlmatch list unset unset-all add replace-all edit name-only show-origin show-scope null remove-section rename-section bool int path includes all regexp value= comment= append fixed-value url= get-color get-colorbool",
        rule: "config",
      },
      rebase: { options: `x:m:F: exec= ${codeOptions}`, code: "x exec", changesFiles: true },
      difftool: { options: `x:m:F: extcmd= ${codeOptions}`, code: "x extcmd" },
      "filter-branch": {
        options: `m:F: env-filter= tree-filter= index-filter= msg-filter= commit-filter= parent-filter= tag-name-filter= setup= ${codeOptions}`,
        code: "env-filter tree-filter index-filter msg-filter commit-filter parent-filter tag-name-filter setup",
      },
      grep: { rule: "grep" },
      bisect: { rule: "bisect" },
      submodule: { rule: "submodule" },
      "rev-parse": { rule: "revParse" },
      credential: {
        effects: [
          {
            does: "high exfiltration",
            says: "It reads stored logins.",
            line: /^(?:fill|get)(?: |$)/,
            yields: "credential",
            always: true,
          },
          { does: "high credential_change", says: "It changes stored logins.", always: true },
        ],
      },
      maintenance: {
        effects: [
          { does: "high persistence", says: "git runs by itself at set times.", line: /^start(?: |$)/ },
          { does: "medium persistence", says: "git runs by itself at set times.", line: /^register(?: |$)/ },
        ],
      },
      // It writes hooks, and settings for every repository.
      lfs: {
        does: "medium persistence",
        says: "git lfs changes hooks and settings of git.",
        line: /^(?:un)?install(?: |$)/,
      },
      "send-email": { does: "high exfiltration", says: "It sends mail.", always: true },
      daemon: { does: "high exfiltration", says: "It offers repositories to other machines.", always: true },
    },
  },
  // `husky` without a word and `husky DIR` install too.
  husky: { ...hooks },
  "simple-git-hooks": { ...hooks, always: true },
  "pre-commit lefthook overcommit": { ...hooks, words: /^(?:install|init|add|init-templatedir)(?: |$)/ },
};
