/** Clients of clusters, clouds and password stores that print secrets: one row for each call that does. */
import { getOperands, type Invocation, isInformation, type Judge, type Judges } from "../programs/invocation.ts";
import { report, type Scope } from "../shell/analysis.ts";
import { type Options, origins, type Text, unknown } from "../shell/text.ts";

interface SecretCall {
  /** Names of programs, separated by blanks. */
  programs: string;
  /** Tested on all words without a dash, joined by blanks: values of options may be among them. Absent: any call. */
  words?: RegExp;
  /** Must fit one of the arguments. Absent: no option is needed. */
  option?: RegExp;
  /** Default high. `medium` where the output has secrets only sometimes, and people look at it for other things. */
  tier?: "medium";
}

/** Forms of output that show what is in an object, and not only its name. */
const showsContent =
  /^(?:-o=?|--output=?)?(?:ya?ml|json|jsonpath.*|go-template.*|template.*|custom-columns.*|jsonpath-.*)$|^--(?:template|raw)(?:=|$)/;
const secretKind = /(?:^| )get (?:.* )?(?:\S+,)?(?:secrets?|sealedsecrets)(?:[,./]\S*)?(?: |$)/;
const verb = (text: string) => new RegExp(`(?:^| )(?:${text})(?: |$)`);

const calls: readonly SecretCall[] = [
  { programs: "kubectl oc k3s minikube microk8s", words: secretKind, option: showsContent },
  { programs: "kubectl oc k3s", words: verb("get \\S*/secrets\\S*|view-secret \\S+|create token \\S+|get-token \\S+") },
  { programs: "kubectl oc", words: /(?:^| )config view(?: |$)/, option: /^--raw(?:=true)?$/ },
  { programs: "oc", words: verb("extract secrets?(?:/| )\\S+") },
  { programs: "oc", words: /^whoami/, option: /^(?:-t|--show-token)$/ },
  { programs: "helm", words: verb("get (?:values|all)") },
  { programs: "helm", words: verb("get manifest"), tier: "medium" },
  { programs: "argocd", words: verb("admin initial-password|account generate-token") },
  { programs: "etcdctl", words: /\/secrets(?:\/|$| )/ },
  { programs: "consul", words: verb("kv export"), tier: "medium" },
  { programs: "consul", words: verb("kv get"), option: /^--?recurse$/, tier: "medium" },
  { programs: "nomad", words: verb("var get") },
  { programs: "gh glab hub", words: verb("auth (?:token|git-credential)") },
  { programs: "gh glab", words: verb("auth status"), option: /^(?:-t|--show-token)(?:=true)?$/ },
  { programs: "gh glab", words: verb("config get(?: \\S+)? (?:oauth_)?token") },
  { programs: "npm pnpm yarn", words: /^(?!(?:run|exec|x|test|start) )(?:\S+ )?token(?: (?:list|ls))?$/ },
  // npm itself does not show what it protects.
  { programs: "pnpm yarn", words: /(?:^| )(?:config |c )?get \S*(?:_auth|_password|AuthToken|authToken)/ },
  { programs: "fly flyctl", words: verb("secrets(?: (?:list|ls))?|auth token|tokens create \\S+") },
  { programs: "heroku", words: /(?:^| )(?:config(?::get)?|auth:token|pg:credentials:url)(?: |$)/ },
  { programs: "vercel", words: verb("env pull") },
  { programs: "netlify", words: verb("env:(?:list|get|clone)") },
  { programs: "railway", words: verb("variables?(?: list)?") },
  { programs: "supabase", words: verb("projects api-keys") },
  { programs: "firebase", words: verb("functions:(?:config:get|secrets:access)|login:ci") },
  { programs: "eas", words: verb("env:pull|credentials") },
  { programs: "cf", words: verb("oauth-token|env \\S+|service-key \\S+") },
  {
    programs: "aws",
    words: verb(
      "secretsmanager (?:batch-)?get-secret-value|ssm get-parameters?(?:-by-path|-history)?|sts (?:get-session-token|get-federation-token|assume-role\\S*)|configure export-credentials|configure get \\S*(?:secret|session_token)\\S*|ecr(?:-public)? (?:get-login-password|get-authorization-token)|codeartifact (?:get-authorization-token|login)|rds generate-db-auth-token|kms decrypt|eks get-token|ec2 get-password-data|sso get-role-credentials|iam create-access-key|redshift get-cluster-credentials|cognito-idp describe-user-pool-client",
    ),
  },
  {
    programs: "gcloud",
    words:
      /(?:^| )(?:auth (?:print-\S+|application-default print-\S+)|secrets versions access|config config-helper|kms decrypt|services api-keys get-key-string|iam service-accounts keys create)(?: |$)/,
  },
  {
    programs: "az",
    words: verb(
      "keyvault (?:secret|key|certificate) (?:show|download|backup)|account get-access-token|(?:\\S+ )?(?:account )?(?:keys|credential|admin-key) (?:list|show)|(?:redis|batch account|maps account) (?:list-keys|keys list)|acr credential show|(?:webapp|functionapp) config (?:appsettings|connection-string) list|(?:functionapp|cosmosdb|servicebus \\S+ authorization-rule) keys list|containerapp secret show|ad sp create-for-rbac|sql db show-connection-string|storage account show-connection-string",
    ),
  },
  { programs: "az", words: verb("acr login"), option: /^--expose-token$/ },
  { programs: "az", words: verb("containerapp secret list"), option: /^--show-values$/ },
  { programs: "doctl", words: verb("registry docker-config|databases (?:connection|user get)|kubeconfig show") },
  { programs: "linode-cli", words: verb("lke kubeconfig-view") },
  { programs: "ibmcloud", words: verb("iam oauth-tokens|resource service-key \\S+") },
  { programs: "databricks", words: verb("auth token|secrets get-secret|tokens create") },
  { programs: "pscale turso", words: verb("password create|db tokens create|auth token") },
  { programs: "neonctl neon", words: verb("connection-string|cs") },
  { programs: "terraform tofu terragrunt", words: verb("state pull") },
  {
    programs: "terraform tofu terragrunt",
    words: /(?:^| )output(?: \S+)* \S*(?:pass|secret|token|key|cred)\S*/i,
  },
  { programs: "terraform tofu terragrunt", words: verb("output"), option: /^--?(?:raw|json)$/, tier: "medium" },
  { programs: "pulumi", option: /^--show-secrets(?:=true)?$/ },
  { programs: "pulumi", words: verb("config get") },
  { programs: "ansible-vault", words: verb("view|decrypt") },
  { programs: "keepassxc-cli", words: verb("show|export|clip") },
  { programs: "kwallet-query", option: /^-r/ },
  { programs: "doppler", words: verb("secrets(?: (?:get \\S+|download).*)?|configs tokens create") },
  { programs: "infisical", words: verb("secrets(?: get \\S+.*)?|export") },
  { programs: "op", words: verb("read|item get|get item|document get|inject|signin") },
  { programs: "bw", words: verb("get|list items|export|unlock") },
  { programs: "vault", words: verb("unwrap|kv get|read|print token|token (?:create|lookup)") },
  { programs: "chamber", words: verb("read|export|env") },
  // They give secrets to a command, which prints them.
  {
    programs: "doppler infisical op railway sops teller chamber",
    words: /(?:^| )(?:run|exec\S*)(?: \S+)*? (?:env|printenv)(?: |$)/,
  },
  { programs: "mc", words: verb("alias (?:list|ls)") },
  { programs: "s3cmd", option: /^--dump-config$/ },
  { programs: "stripe", words: verb("config"), option: /^--list$/ },
  { programs: "snyk", words: verb("config get api") },
  { programs: "docker podman nerdctl", words: verb("inspect(?: .*)?"), option: /\.Env\b/ },
  { programs: "docker podman", words: verb("swarm join-token") },
  { programs: "podman", words: verb("secret inspect"), option: /^--showsecret(?:=true)?$/ },
  { programs: "nmcli", option: /^(?:-s|--show-secrets)$/ },
  { programs: "nmcli", words: verb("device wifi show-password|dev wifi show-password") },
  { programs: "wg", words: verb("showconf|show \\S+ (?:private-key|dump)") },
  { programs: "rclone", words: verb("config (?:show|dump)") },
  { programs: "borg", words: verb("key export") },
  // `ps e` of BSD and Linux shows the environment of each process.
  { programs: "ps", option: /^[aefghjlmnrstuvwxTX]*e[aefghjlmnrstuvwxTX]*$/ },
];

const byProgram = new Map<string, SecretCall[]>();
for (const call of calls)
  for (const name of call.programs.split(" ")) byProgram.set(name, [...(byProgram.get(name) ?? []), call]);

const readSecrets: Judge = ({ name, args }, scope) => {
  if (isInformation(args) || args.some(({ text }) => /^--?(?:help|version)$/.test(text))) return undefined;
  const words = getOperands(args)
    .map(({ text }) => text)
    .join(" ");
  const call = byProgram
    .get(name)!
    .find(
      (row) => (row.words?.test(words) ?? true) && (!row.option || args.some(({ text }) => row.option!.test(text))),
    );
  if (!call) return undefined;
  report(scope, call.tier ?? "high", "exfiltration", `${name} prints secrets: ${words.slice(0, 80)}.`);
  return [unknown(call.tier ? origins.secret : origins.credential)];
};

/** `docker-credential-desktop get` and the like hand out a stored login. */
export const isCredentialHelper = (name: string): boolean => /^(?:docker|git)-credential-[\w-]+$/.test(name);

export function readHelper({ name, args: [verb] }: Invocation, scope: Scope): Options<Text> | undefined {
  if (!/^(?:get|list|fill)$/.test(verb?.text ?? "")) return undefined;
  report(scope, "high", "exfiltration", `${name} hands out stored logins.`);
  return [unknown(origins.credential)];
}

export const secretReaderRules: Judges = Object.fromEntries([...byProgram.keys()].map((name) => [name, readSecrets]));
