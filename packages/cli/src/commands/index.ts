import type { Command } from "../command.ts";

/**
 * Every command. Help, suggestions and completion read this table, and so does whoever parses a command's arguments (see
 * forms.ts for how a line is read). `load.ts` has the code behind each.
 */
export const commands: readonly Command[] = [
  {
    name: "sessions",
    summary: "List, show, branch, move and mend sessions",
    usage: [
      "tau sessions list [--all] [--session-dir DIR] [--json]  Those of this directory, the last used first",
      "tau sessions tree [SESSION] [--all] [--session-dir DIR] [--json]  Which came from which, or the branches in one",
      "tau sessions show [SESSION] [--json]  What is in it, with the ids of its entries",
      "tau sessions switch SESSION  Make it the one that --continue takes",
      "tau sessions branch [SESSION] --from ENTRY [-n, --name NAME]  A new session that goes on from an entry",
      "tau sessions rename SESSION NAME...  Give it a name",
      "tau sessions export [SESSION] [--format html|md|jsonl] [-o, --output FILE] [--yes]  As a page, a text or lines",
      "tau sessions import FILE [--session-dir DIR] [--json]  Bring in a file of tau's or pi's, of any version",
      "tau sessions delete SESSION... [--for-good] [--yes]  Move it to the trash; with --for-good, remove it",
      "tau sessions restore ID...  Take a deleted session out of the trash",
      "tau sessions repair [SESSION] [--json]  Set damaged lines aside and say what was lost",
    ],
  },
  {
    name: "models",
    summary: "List the models that can be used",
    usage: ["tau models [SEARCH] [--all] [--offline] [--json]  With --all also those that have no key yet"],
  },
  {
    name: "auth",
    summary: "Log in, log out, and see where keys come from",
    usage: [
      "tau auth login [PROVIDER] [--method key|browser|paste|device]  A key or a login; a key may come from standard input",
      "tau auth logout [PROVIDER] [--yes]  Forget what is stored for it",
      "tau auth status [--json]  Where each key comes from",
    ],
  },
  {
    name: "config",
    summary: "Read and change settings",
    usage: [
      "tau config get [KEY] [--json]  What counts, and which file says so",
      "tau config set KEY VALUE [--project]  JSON, or plain text",
      "tau config unset KEY [--project]  Take a setting out of the file",
      "tau config edit [--project]  Open the file in $VISUAL or $EDITOR, then check it",
      "tau config path [--project]  Where the file is",
      "tau config schema  The JSON Schema for editors",
    ],
  },
  {
    name: "doctor",
    summary: "Check what tau needs, and say how to mend it",
    usage: ["tau doctor [--network] [--json]  Contacts nobody, unless --network"],
  },
  {
    name: "completion",
    summary: "Print completions for a shell",
    usage: ["tau completion bash  Such as: tau completion bash >> ~/.bash_completion"],
  },
  {
    name: "demo",
    summary: "Watch a scripted model work on a temporary project, offline",
    usage: ["tau demo [--keep]  With --keep the project and its session stay"],
  },
  {
    name: "help",
    summary: "Explain a command or a topic",
    usage: ["tau help [TOPIC]  A command, or: keys, models, sessions, settings, exit-codes"],
  },
];
