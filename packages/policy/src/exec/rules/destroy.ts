/** Clients of services and databases: what they destroy or change there cannot be taken back from here. */
import {
  forNames,
  getOperands,
  isInformation,
  resolveAll,
  type Invocation,
  type Judge,
  type Judges,
} from "../programs/invocation.ts";
import { runCode } from "../programs/code.ts";
import { judgeInlineCode } from "../programs/inline-code.ts";
import { report, type Scope } from "../shell/analysis.ts";
import { isKnown, joinOrigins, origins, type Text } from "../shell/text.ts";
import { isLocalHost } from "./hosts.ts";
import { judgeSent } from "./network.ts";
import { judgeWrite } from "./write.ts";

/** Words of a subcommand that end something: `destroy`, `instances delete`, `apps:destroy`, `delete-stack`, `vm.destroy`. */
const destroys =
  /^(?:[\w-]+[:.])?(?:destroy|delete(?:all)?|del|terminate|uninstall|undefine|unregistervm|teardown|purge|forget|prune|down|nuke|wipe|erase|rmi?|rb|remove)(?:[-_][\w-]+)?$|^pg:reset$|^(?:Delete|Terminate|Destroy)[A-Z]/;
/** The same where the first word has the kind of thing in it: `vol-delete`, `vm-destroy`. */
const destroysKind = /^\w+-(?:destroy|delete|undefine|wipe)$/;
/** `kubeadm reset`. As a later word it may mean a database of the project. */
const resets = /^(?:force_)?reset$/;
const destroysOption = /^--?(?:destroy|delete(?:-all)?|purge|remove-all-storage)$/;
const reads = /^(?:get|describe|list|ls|show|explain|top|status|plan|validate|version|template|lint|history)$/;
const changes =
  /^(?:[\w-]+:)?(?:apply|up|deploy|redeploy|upgrade|install|import|taint|untaint|rollback|scale|sync|bootstrap|reconcile|run-all|promote)$/;
/** Their first words name a kind of thing, and the verb follows. */
const nestedClients =
  /^(?:gcloud|gsutil|az|doctl|ibmcloud|oci|scw|hcloud|linode-cli|argocd|flux|terragrunt|nomad|supabase|eb)$/;

/** Options before the subcommand have values, so the first words that are no options are looked at. */
const maxWords = 8;

export const judgeClient: Judge = ({ name, args }, scope) => {
  const last = args.findIndex(({ text }) => text === "--");
  const options = last === -1 ? args : args.slice(0, last);
  if (options.some(({ text }) => /^--?(?:help|dry-run(?:=(?:client|server|true))?|whatif)$/.test(text))) return;
  const words = args.filter(({ text }) => !text.startsWith("-")).slice(0, maxWords);
  const verb = words.find(({ text }, index) => destroys.test(text) || (index === 0 && destroysKind.test(text)));
  // `kubectl describe pod rm` only reads. Behind an option a word may be its value, so it does not count there.
  const end = args.findIndex((arg) => arg === verb || arg.text.startsWith("-"));
  if ((end === -1 ? args : args.slice(0, end)).some(({ text }) => reads.test(text))) return;
  const option = args.find(({ text }) => destroysOption.test(text));
  if (verb || option)
    report(scope, "high", "recursive_delete", `${name} ${(verb ?? option)!.text} destroys what others use.`);
  else if (args.some(({ text }) => statements.test(text)))
    report(scope, "medium", "recursive_delete", `${name} deletes data of a database.`);
  // `vagrant up` starts a machine of the project.
  else {
    const change = words
      .slice(0, nestedClients.test(name) ? 4 : 1)
      .find(({ text }, index) => changes.test(text) || (index === 0 && resets.test(text)));
    if (change && name !== "vagrant")
      report(scope, "medium", "privilege_escalation", `${name} ${change.text} changes what others use.`);
  }
};

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
  if (drops && !args.some(({ text }) => /^--?(?:help|dry-run)$/.test(text)))
    report(scope, "medium", "recursive_delete", `${task} deletes data of a database.`);
}

/** Programs whose whole purpose is to change other machines, or this one, to what files describe. */
const configure: Judge = ({ name, args }, scope) => {
  const onlyReads =
    args.length === 0 ||
    isInformation(args) ||
    args.some(({ text }) =>
      /^(?:-C|--check|--syntax-check|--list-\w+|--noop|--why-run|-W|test=True|-T|--tasks|-l|--list|--version|lint|validate|parser|module|lookup|facts|describe|config|help|setup|app|server|logs|details)$/i.test(
        text,
      ),
    );
  if (!onlyReads) report(scope, "medium", "privilege_escalation", `${name} changes machines.`);
};

/** `ansible-pull -U ADDRESS` and such run what another machine describes. */
const pull: Judge = ({ name, args }, scope) => {
  if (!isInformation(args))
    report(scope, "high", "pipe_to_shell", `${name} runs what it fetches from another machine.`);
};

const statements =
  /\b(?:drop\s+(?:database|schema|table|user|role|keyspace|index|view|collection|bucket|owned)|truncate\s+(?:table\s+)?\w+|flushall|flushdb)\b|\b(?:dropDatabase|drop|deleteMany)\s*\(|\bdelete\s+from\s+[\w."`]+\s*(?:;|$)/i;

/** Options that name a file of statements, and names of such files. */
const statementFile = /^(?:-f|--(?:file|input-file|queries-file)(?:=|$))|\.(?:sql|cql|js|mjs|lua)$/;

/** Statements on the command line or in the input of a client of a database. */
const database: Judge = ({ name, args }, scope) => {
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
  if (texts.some(({ text }) => statements.test(text)))
    report(scope, "medium", "recursive_delete", `${name} deletes data of a database.`);
  // What a script has written itself was judged above.
  else if (
    scope.stdin.some(({ text }) => !isKnown(text)) ||
    (args.some(({ text }) => statementFile.test(text)) && !files.some((path) => scope.state.files.has(path)))
  )
    report(scope, "medium", "opaque_exec", `${name} runs statements that are not known before.`);
};

const dropDatabase: Judge = ({ name, args }, scope) => {
  if (!isInformation(args)) report(scope, "medium", "recursive_delete", `${name} deletes a database.`);
};

/** They delete what was there before. */
const restore: Judge = (invocation, scope) => {
  if (invocation.args.some(({ text }) => /^(?:-c|--clean|--drop)$/.test(text))) dropDatabase(invocation, scope);
};

/** `sqlite3` has commands that write files and run programs, and a database is a file too. */
const sqlite: Judge = ({ args }, scope) => {
  const [file, ...rest] = args.filter(({ text }) => !text.startsWith("-"));
  const texts = [...rest, ...scope.stdin];
  for (const text of file ? [file, ...texts] : texts) judgeDotCommands(text, scope);
  const writes = texts.some(({ text }) =>
    /\b(?:insert|update|delete|drop|create|alter|replace|vacuum|attach|reindex)\b|^\.(?:import|restore|read|load|shell|system)\b/im.test(
      text,
    ),
  );
  if (file && writes) for (const path of resolveAll(file, scope)) judgeWrite(path, scope);
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
      const file = { ...value, text: value.text.split(/\s+/).at(-1)! };
      for (const path of resolveAll(file, scope)) judgeWrite(path, scope);
    } else if (command === "load")
      report(scope, "medium", "opaque_exec", `sqlite3 loads code from ${value.text || "a file"}.`);
  }
}

export const destroyRules: Judges = {
  ...forNames(
    "terraform tofu terragrunt pulumi cdk cdktf sam eksctl kops serverless sls sst copilot helm helmfile argocd flux skaffold vagrant fly flyctl heroku railway render vercel netlify firebase supabase wrangler doctl linode-cli hcloud scw ibmcloud oci nomad gcloud gsutil az kubectl oc eb kamal dokku kind minikube k3d lxc incus multipass virsh velero knife consul influx colima qm pct xe govc vboxmanage prlctl snapper timeshift k0s openstack nova cf civo exo vultr-cli aliyun pscale turso skopeo crane distrobox toolbox restic borg rclone mc s3cmd s5cmd b2",
    judgeClient,
  ),
  ...forNames("ansible-playbook puppet chef-client chef-solo chef-apply salt salt-call salt-ssh cap", configure),
  "ansible-pull": pull,
  ...forNames(
    "psql mysql mariadb mongosh mongo redis-cli valkey-cli sqlplus sqlcmd clickhouse-client cockroach cqlsh usql pgcli mycli",
    database,
  ),
  ...forNames("dropdb dropuser", dropDatabase),
  mysqladmin: (invocation, scope) => {
    if (getOperands(invocation.args).some(({ text }) => text === "drop")) dropDatabase(invocation, scope);
  },
  ...forNames("pg_restore mongorestore", restore),
  ...forNames("sqlite3 duckdb", sqlite),
};
