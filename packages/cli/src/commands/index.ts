import { allFeatures } from "@tau/features";
import type { Command } from "./command.ts";

export const featureCommands = allFeatures.flatMap(({ programCommands = [] }) => programCommands);

/** Its servers are the feature's; serving sessions is a surface of the program. */
const mcpFeature = featureCommands.find(({ name }) => name === "mcp");

/** Every command. Help, suggestions, completion and parsing read this table; `run.ts` has the code behind each row. */
export const commands: readonly Command[] = [
  {
    name: "sessions",
    summary: "List, search, show, branch, export, share, send to, delete and repair sessions",
    usage: [
      "tau sessions list [--all] [--session-dir DIR] [--json]  Sessions of this directory, last used first",
      "tau sessions search TEXT... [--cwd DIR] [--since DATE] [--until DATE] [--model MODEL] [--min-cost USD] [--max-cost USD] [-n, --limit N] [--session-dir DIR] [--json]  Messages of all sessions that have all these words; '\"two words\"' is a phrase",
      "tau sessions tree [SESSION] [--all] [--session-dir DIR] [--json]  Sessions with their branches, children and costs, or the branches of one",
      "tau sessions show [SESSION] [--json]  The content of a session, with the ids of its entries",
      "tau sessions switch SESSION  Make --continue use this session",
      "tau sessions branch [SESSION] --from ENTRY [-n, --name NAME]  Create a session that continues from an entry",
      "tau sessions rename SESSION NAME... [--force]  Name a session",
      "tau sessions export [SESSION] [--format html|md|jsonl] [-o, --output FILE] [--yes]  Write HTML, Markdown or JSON lines",
      "tau sessions share [SESSION] [--link] [--without LIST] [-o, --output FILE] [--list] [--revoke ID] [--yes] [--json]  Write a page without secrets, or with --link serve it for 7 days; LIST is thinking,images,output",
      "tau sessions send SESSION TEXT... [--from NAME]  Send a message to a session that another program has open: it follows what the session does now",
      "tau sessions import FILE [--keep-directory] [--session-dir DIR] [--json]  Import a session file of tau or pi, of any version, into this directory or its own",
      "tau sessions delete SESSION... [--for-good] [--yes] [--force]  Move sessions to the trash; with --for-good, remove them",
      "tau sessions restore ID...  Take deleted sessions out of the trash",
      "tau sessions repair [SESSION] [--json] [--force]  Leave out damaged lines and report what was lost",
    ],
  },
  {
    name: "stats",
    summary: "Show what sessions have used: tokens, cost, time and calls",
    usage: [
      "tau stats [--by day|project|model|tool|agent] [--since DAY] [--until DAY] [--json]  All sessions of the last 30 days; DAY is 2026-03-01, today, yesterday, or how long ago it was, such as 7d or 2w",
    ],
  },
  {
    name: "models",
    summary: "List the models that can be used, and renew what is known about them",
    usage: [
      "tau models [SEARCH] [--all] [--offline] [--json]  With --all, also models that have no key yet",
      "tau models update [FILE|ADDRESS] [--reset] [--yes]  Add models and change limits and prices as a file or an https address says; with --reset, undo that",
    ],
  },
  {
    name: "auth",
    summary: "Log in, log out, and show where keys come from",
    usage: [
      "tau auth login [PROVIDER] [--method key|browser|paste|device]  Log in, or store a key (also from standard input)",
      "tau auth logout [PROVIDER] [--yes]  Remove the stored key or login",
      "tau auth move keychain|file  Store keys and logins in the key chain of the operating system, or in auth.json",
      "tau auth status [--json]  Where each key comes from",
      "tau auth check [--provider NAME] [--model MODEL] [--json] [--credentials] [--no-refresh]  Whether requests have a key: ready, not_ready or invalid (exit codes 0, 1 and 2)",
      "tau auth print-api-key [--provider NAME] [--model MODEL] [--no-refresh]  Print the key of a provider, for scripts",
      "tau auth print-bearer-token [--provider NAME] [--model MODEL] [--min-expiry DURATION] [--no-refresh]  Print the token of a login, valid for at least 30m, say",
    ],
  },
  {
    name: "import",
    summary: "Bring over what pi, Claude Code, codex, opencode and oh-my-pi have here",
    usage: [
      "tau import [--from NAME] [--keys NAME] [--dry-run] [--yes] [--json]  Asks about each kind; overwrites nothing. NAME is pi, claude-code, codex, opencode or omp and may be repeated; keys and logins come only with --keys NAME or NAME/PROVIDER",
    ],
  },
  {
    name: "install",
    summary: "Install packages with extensions, skills, prompt templates and themes, and plugins of Claude Code",
    usage: [
      "tau install [SOURCE...] [-l, --local] [--yes] [--trust] [--any-age] [--from-pi]  npm:NAME, git:HOST/PATH, an address, a path, or NAME@MARKETPLACE; without SOURCE, what the settings name and is not installed",
    ],
  },
  {
    name: "remove",
    summary: "Remove packages",
    usage: ["tau remove SOURCE... [-l, --local]  Its files, its entry in the settings, and what you said about it"],
  },
  {
    name: "update",
    summary: "Update packages",
    usage: [
      "tau update [SOURCE...] [-l, --local] [--yes] [--trust] [--any-age] [--extensions] [--extension SOURCE] [--self] [--models] [--all]  To the newest that the settings allow; --self updates tau as it was installed or says how, --models is tau models update, --all does all of it",
    ],
  },
  {
    name: "list",
    summary: "List packages and what they bring",
    usage: ["tau list [--json]  Packages of yours and of this project"],
  },
  {
    name: "extensions",
    summary: "List extensions, and trust or turn off single ones",
    usage: [
      "tau extensions list [--json]  All extensions, and whether and where they run",
      "tau extensions trust NAME  Let it run in process, until its content changes",
      "tau extensions kill NAME  Turn it off",
      "tau extensions revive NAME  Turn it on again, isolated",
    ],
  },
  {
    name: "config",
    summary: "Read and change settings, and choose resources",
    usage: [
      "tau config [-l, --local] [--json]  Extensions, skills, templates and themes: turn single ones on and off",
      "tau config get [KEY] [--json]  The settings in effect, and where each comes from",
      "tau config set KEY VALUE [--project]  VALUE is JSON or plain text",
      "tau config unset KEY [--project]  Remove a setting from the file",
      "tau config edit [--project]  Open the file in $VISUAL or $EDITOR, then check it",
      "tau config path [--project]  The path of the file",
      "tau config schema  The JSON Schema, for editors",
    ],
  },
  {
    name: "attach",
    summary: "Show a session of the gateway in this terminal",
    usage: [
      "tau attach [SESSION] [--url URL]  An id, or its beginning; without it, the session that was used last. Leaving does not end its run",
    ],
  },
  {
    name: "trust",
    summary: "Trust the project in this directory, or stop trusting it",
    usage: ["tau trust [--revoke]  Until then its settings and system prompt cannot execute or redirect anything"],
  },
  {
    name: "sandbox",
    summary: "Run a program in the sandbox, or show what it allows",
    usage: [
      "tau sandbox run PROGRAM...  Run a program as the model's commands run; after --, its own options",
      "tau sandbox explain [--json]  Whether it works here, and what commands can do in it",
    ],
  },
  {
    name: "policy",
    summary: "Judge commands, show the policy, and take back what was allowed",
    usage: [
      'tau policy check [COMMAND...] [--unattended] [--cwd DIR] [--home DIR] [--json]  Judge commands, or lines such as {"cmd":"ls"}, without running them',
      "tau policy explain [--capability NAME] [--extension NAME] [--json]  The policy in effect, and where it comes from",
      "tau policy rules [ACTION] [NUMBER...] [--json]  ACTION is list (the default) or remove: what you allowed for longer than a session",
    ],
  },
  {
    name: "audit",
    summary: "Look at what was denied, and at what people allowed",
    usage: [
      "tau audit tail [-n, --lines N] [--json]  The last records, 20 by default",
      "tau audit verify [--json]  Check that no record was changed, removed or moved",
    ],
  },
  {
    name: "gateway",
    summary: "Serve sessions to pages and programs, and say who may connect",
    usage: [
      "tau gateway [--host HOST] [--port PORT] [--cluster URL]  Serve sessions until it is stopped; on this machine only by default",
      "tau gateway status [--json]  Whether your gateway runs, and where",
      "tau gateway reload  Take changed settings and a renewed certificate; clients stay",
      "tau gateway stop [--now]  Stop it when its runs are over, at most 30 s later; with --now, at once",
      "tau gateway logs [-n, --lines N] [-f, --follow]  What it has written into its log, 100 lines by default",
      "tau gateway token  The token of your account, for programs that need one",
      "tau gateway devices [--json]  Who may connect, and who asks to",
      "tau gateway pair CODE [--scopes LIST] [--name NAME]  Let a device in that shows this code; LIST is read,write,approve by default",
      "tau gateway hook-token NAME  The token of a webhook, which the setting gateway.hooks.NAME opens",
      "tau gateway revoke DEVICE  Take a device's token away, and close its connections; for local, your account gets a new one",
    ],
  },
  {
    name: "channels",
    summary: "Show the chat accounts of the gateway, and say who may write to its agents",
    usage: [
      "tau channels list [--json]  The accounts of the setting gateway.channels, and whether they are connected",
      "tau channels login NAME  Store the secrets of an account (also from standard input, one a line)",
      "tau channels test NAME  Send a short message to the conversation that was used last",
      "tau channels logs NAME  What the gateway's log says of an account",
      "tau channels pair CODE  Let a person write who was sent this code",
      "tau channels peers [--json]  Who may write, and who has a code",
      "tau channels unpair NAME ID  Do not let a person write any more",
      "tau channels outbox [NAME] [--json]  Replies that are not delivered, and those that may not have been",
      "tau channels resend ID  Send such a reply again",
      "tau channels drop ID  Forget such a reply",
    ],
  },
  {
    name: "routes",
    summary: "Show which agent answers which messages of channels",
    usage: [
      "tau routes list [--json]  The bindings of the setting gateway.bindings",
      "tau routes explain CHANNEL [--account NAME] [--peer KIND:ID] [--parent KIND:ID] [--guild ID] [--roles LIST] [--team ID] [--json]  Which agent would answer such a message, and why",
    ],
  },
  {
    name: "cron",
    summary: "Let agents work at certain times, and see what came of it",
    usage: [
      "tau cron list [--json]  The schedules, when they are due next, and what they have cost",
      "tau cron add PROMPT... [--at TIME] [--every TIME] [--cron FIELDS] [--tz ZONE] [--name NAME] [--agent NAME] [--model MODEL] [--cwd DIR] [--policy safe|balanced|permissive] [--tools LIST] [--max-tokens N] [--max-cost USD] [--channel NAME] [--json]  Add one: --at 20m or 2026-12-24T18:00, --every 30m, or --cron '0 7 * * 1-5'",
      "tau cron remove ID  Remove one; a run that has begun continues",
      "tau cron run ID  Begin a run now",
      "tau cron runs [ID] [--json]  The last runs, also those that were missed",
      "tau cron pause ID  Let no run begin",
      "tau cron resume ID  Let runs begin again; those that were due meanwhile are left out",
    ],
  },
  ...featureCommands.filter(({ name }) => name !== "mcp"),
  {
    name: "mcp",
    summary: mcpFeature?.summary ?? "Offer sessions as tools over MCP",
    usage: [
      ...(mcpFeature?.usage ?? []),
      "tau mcp serve [--model MODEL] [--thinking LEVEL] [--agent NAME] [--policy safe|balanced|permissive] [--permission-mode plan|ask|edit|free] [--sandbox off|auto|required] [--no-extensions] [--offline]  Offer sessions of this directory as tools over MCP, on standard input and output",
    ],
  },
  {
    name: "fan",
    summary: "Run tasks of a file side by side",
    usage: [
      "tau fan [FILE] [--parallelism N] [--stop-on-error] [--merge all|successful|first] [--model MODEL] [--thinking LEVEL] [--agent NAME] [--policy safe|balanced|permissive] [--permission-mode plan|ask|edit|free] [--sandbox off|auto|required] [--no-extensions] [--offline]  A task on each line, as JSON; without FILE from standard input. Prints a line of JSON for each result",
    ],
  },
  {
    name: "commit",
    summary: "Commit what is staged, with a message that a model writes",
    usage: [
      "tau commit [--split] [--yes] [--model MODEL] [--thinking LEVEL] [--no-extensions] [--offline]  Shows the message and asks first; --split proposes several commits. Never pushes",
    ],
  },
  {
    name: "acp",
    summary: "Serve an editor over the Agent Client Protocol",
    usage: [
      "tau acp [--model MODEL] [--thinking LEVEL] [--agent NAME] [--policy safe|balanced|permissive] [--permission-mode plan|ask|edit|free] [--sandbox off|auto|required] [--no-extensions] [--offline]  Speak ACP on standard input and output, for Zed, JetBrains and others",
      "tau acp login [PROVIDER]  Log in, for editors that open a terminal for it",
    ],
  },
  {
    name: "doctor",
    summary: "Check what tau needs and suggest fixes",
    usage: ["tau doctor [--network] [--json]  Contacts no server without --network"],
  },
  {
    name: "completion",
    summary: "Print completions for a shell",
    usage: ["tau completion [SHELL]  For bash, zsh or fish; without SHELL, how to install them"],
  },
  {
    name: "demo",
    summary: "Watch a scripted model work on a temporary project, offline",
    usage: ["tau demo [--keep]  With --keep, the project and its session are not removed"],
  },
  {
    name: "help",
    summary: "Explain a command or a topic",
    usage: ["tau help [TOPIC]  A command, or: keys, models, sessions, settings, exit-codes"],
  },
];
