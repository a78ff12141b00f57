/** Clients of services and databases: what they destroy or change there cannot be taken back from here. */
import { hasArg, type Invocation, type Judge, resolveAll } from "./invocation.ts";
import type { Program } from "../programs/program.ts";
import { runCode } from "../code/run-code.ts";
import { judgeInlineCode } from "../code/inline-code.ts";
import { report, type Scope } from "../shell/analysis.ts";
import { isKnown, joinOrigins, origins, type Text } from "../shell/text.ts";
import { isLocalHost } from "./addresses.ts";
import { judgeSent } from "./network.ts";
import { judgeWrites } from "./write.ts";

/** Words of a subcommand that end something: `destroy`, `instances delete`, `apps:destroy`, `delete-stack`, `vm.destroy`. */
const destroys =
  /^(?:[\w-]+[:.])?(?:destroy|delete(?:all)?|del|terminate|uninstall|undefine|unregistervm|teardown|purge|forget|prune|down|nuke|wipe|erase|rmi?|rb|remove)(?:[-_][\w-]+)?$|^pg:reset$|^(?:Delete|Terminate|Destroy)[A-Z]/;
/** Subcommands whose first word has the kind of thing in it: `vol-delete`, `vm-destroy`. */
const destroysKind = /^\w+-(?:destroy|delete|undefine|wipe)$/;
/** `kubeadm reset`. As a later word it may mean a database of the project. */
const resets = /^(?:force_)?reset$/;
const destroysOption = /^--?(?:destroy|delete(?:-all)?|purge|remove-all-storage)$/;
const reads = /^(?:get|describe|list|ls|show|explain|top|status|plan|validate|version|template|lint|history)$/;
const changes =
  /^(?:[\w-]+:)?(?:apply|up|deploy|redeploy|upgrade|install|import|taint|untaint|rollback|scale|sync|bootstrap|reconcile|run-all|promote)$/;
/** Options before the subcommand have values, so the first words that are no options are looked at. */
const maxWords = 8;

export function judgeClient({ name, args, program }: Invocation & { program?: Program }, scope: Scope): void {
  const last = args.findIndex(({ text }) => text === "--");
  const options = last === -1 ? args : args.slice(0, last);
  if (hasArg(options, /^--?(?:help|dry-run(?:=(?:client|server|true))?|whatif)$/)) return;
  const words = args.filter(({ text }) => !text.startsWith("-")).slice(0, maxWords);
  const verb = words.find(({ text }, index) => destroys.test(text) || (index === 0 && destroysKind.test(text)));
  // `kubectl describe pod rm` only reads. Behind an option a word may be its value, so it does not apply there.
  const end = args.findIndex((arg) => arg === verb || arg.text.startsWith("-"));
  if ((end === -1 ? args : args.slice(0, end)).some(({ text }) => reads.test(text))) return;
  const option = args.find(({ text }) => destroysOption.test(text));
  if (verb || option)
    report(scope, "high", "recursive_delete", `${name} ${(verb ?? option)!.text} destroys what others use.`);
  else if (hasArg(args, statements)) report(scope, "medium", "recursive_delete", `${name} deletes data of a database.`);
  else {
    const change = words
      .slice(0, program?.client ?? 1)
      .find(({ text }, index) => changes.test(text) || (index === 0 && resets.test(text)));
    if (change) report(scope, "medium", "privilege_escalation", `${name} ${change.text} changes what others use.`);
  }
}

/** `etcdctl`, `kubeadm`, `istioctl`, `kafka-topics.sh`: by their names, clients of a service. */
const serviceClient = /^[a-z]+(?:ctl|adm)$|^(?:kafka|rabbitmq|zkCli)-?[a-z-]*(?:\.sh)?$/;

/**
 * Tasks of frameworks and of tools for migrations: `db:drop`, `migrate reset`, `doctrine:database:drop`, `ecto.drop`,
 * `flywayClean`, `manage.py flush`; and the way back to a database with nothing in it.
 */
const dropsData =
  /(?:^|[\s:._/-])(?:db|database|schema|migrate|migrations?|migratus|ecto|sql|flyway|liquibase|dbmate|goose|manage\.py)[\s:._-]?(?:drop|dropall|reset|wipe|fresh|purge|truncate|flush|nuke|clean)(?:[\s:_-]|$)|\bdowngrade base$|\bdown-to 0$|\bundo:all$/i;

/** For programs without rules of their own. */
export function judgeUnknownClient(invocation: Invocation, scope: Scope): void {
  if (serviceClient.test(invocation.name)) judgeClient(invocation, scope);
  judgeTasks(invocation, scope);
}

/** The task is among the first words, also behind a script: `php artisan migrate:fresh`. */
export function judgeTasks({ name, args }: Invocation, scope: Scope): void {
  const words = args.slice(0, 4).map(({ text }) => text);
  const end = words.findIndex((text) => !/^[\w.:/-]+$/.test(text) || text.startsWith("-"));
  const task = [name, ...(end === -1 ? words : words.slice(0, end))].join(" ");
  const drops = dropsData.test(task) || args.some(({ text }) => text === "--force-reset");
  if (drops && !hasArg(args, /^--?(?:help|dry-run)$/))
    report(scope, "medium", "recursive_delete", `${task} deletes data of a database.`);
}

const statements =
  /\b(?:drop\s+(?:database|schema|table|user|role|keyspace|index|view|collection|bucket|owned)|truncate\s+(?:table\s+)?\w+|flushall|flushdb)\b|\b(?:dropDatabase|drop|deleteMany)\s*\(|\bdelete\s+from\s+[\w."`]+\s*(?:;|$)/i;

/** Options that name a file of statements, and names of such files. */
const statementFile = /^(?:-f|--(?:file|input-file|queries-file)(?:=|$))|\.(?:sql|cql|js|mjs|lua)$/;

/** Statements on the command line or in the input of a client of a database. */
export const database: Judge = ({ name, args }, scope) => {
  const host = args[args.findIndex(({ text }) => /^(?:-h|--host)$/.test(text)) + 1];
  if (host && host !== args[0] && !isLocalHost(host.text))
    judgeSent(joinOrigins(args) & (origins.secret | origins.credential), scope, `to ${host.text}`);
  // The shell of MongoDB runs JavaScript, with the modules of Node.
  for (const text of name.startsWith("mongo") ? [...args, ...scope.stdin] : [])
    if (/\brequire\s*\(|\bfs\.|child_process/.test(text.text)) judgeInlineCode(text, "node", scope);
  const files = args.flatMap((arg) =>
    resolveAll({ ...arg, text: arg.text.replace(/^(?:-f|--[a-z-]+=|@)/, "") }, scope),
  );
  const texts = [...args, ...scope.stdin, ...files.flatMap((path) => scope.state.files.get(path) ?? [])];
  if (hasArg(texts, statements)) report(scope, "medium", "recursive_delete", `${name} deletes data of a database.`);
  // What a script has written itself was judged above.
  else if (
    scope.stdin.some(({ text }) => !isKnown(text)) ||
    (hasArg(args, statementFile) && !files.some((path) => scope.state.files.has(path)))
  )
    report(scope, "medium", "opaque_exec", `${name} runs statements that are not known before.`);
};

/** `sqlite3` has commands that write files and run programs, and a database is a file too. */
export const sqlite: Judge = ({ args }, scope) => {
  const [file, ...rest] = args.filter(({ text }) => !text.startsWith("-"));
  const texts = [...rest, ...scope.stdin];
  for (const text of file ? [file, ...texts] : texts) judgeDotCommands(text, scope);
  const writes = hasArg(
    texts,
    /\b(?:insert|update|delete|drop|create|alter|replace|vacuum|attach|reindex)\b|^\.(?:import|restore|read|load|shell|system)\b/im,
  );
  if (file && writes) judgeWrites([file], scope);
};

function judgeDotCommands(text: Text, scope: Scope): void {
  for (const [, command, rest = ""] of text.text.matchAll(/^[ \t]{0,20}\.(\w+)(?:[ \t]+([^\n]*))?$/gm)) {
    const value = { ...text, text: rest.trim().replace(/^(["'])(.*)\1$/s, "$2") };
    if (/^(?:sh|she|shell|sy|sys|system)$/.test(command!)) {
      report(scope, "medium", "opaque_exec", "sqlite3 runs a program.");
      if (value.text !== "") runCode(value, [], scope);
    } else if (/^(?:o|out|output|once)$/.test(command!) && value.text.startsWith("|")) {
      report(scope, "high", "opaque_exec", "sqlite3 gives its output to a program.");
      runCode({ ...value, text: value.text.slice(1) }, [], scope);
    } else if (/^(?:o|out|output|once|backup|save|clone|log|trace|dump|excel)$/.test(command!) && value.text !== "") {
      judgeWrites([{ ...value, text: value.text.split(/\s+/).at(-1)! }], scope);
    } else if (command === "load")
      report(scope, "medium", "opaque_exec", `sqlite3 loads code from ${value.text || "a file"}.`);
  }
}
