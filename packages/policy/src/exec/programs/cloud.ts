/** Clients of clouds, clusters and other services that the person is signed in to, and of what describes machines. */
import { type Effect, type Programs, type SecretCall, setupWords } from "./program.ts";

const verb = (words: string): SecretCall => ({ words: new RegExp(`(?:^| )(?:${words})(?: |$)`) });

/** Forms of output that show what is in an object, and not only its name. */
const showsContent =
  /^(?:-o=?|--output=?)?(?:ya?ml|json|jsonpath.*|go-template.*|template.*|custom-columns.*|jsonpath-.*)$|^--(?:template|raw)(?:=|$)/;
const getSecrets: SecretCall = {
  words: /(?:^| )get (?:.* )?(?:\S+,)?(?:secrets?|sealedsecrets)(?:[,./]\S*)?(?: |$)/,
  option: showsContent,
};
const getTokens = verb("get \\S*/secrets\\S*|view-secret \\S+|create token \\S+|get-token \\S+");
const viewConfig: SecretCall = { words: /(?:^| )config view(?: |$)/, option: /^--raw(?:=true)?$/ };
const stateSecrets: readonly SecretCall[] = [
  verb("state pull"),
  { words: /(?:^| )output(?: \S+)* \S*(?:pass|secret|token|key|cred)\S*/i },
  { ...verb("output"), option: /^--?(?:raw|json)$/, tier: "medium" },
];
const ghSecrets: readonly SecretCall[] = [
  verb("auth (?:token|git-credential)"),
  { ...verb("auth status"), option: /^(?:-t|--show-token)(?:=true)?$/ },
  verb("config get(?: \\S+)? (?:oauth_)?token"),
];
const dockerSecrets: readonly SecretCall[] = [
  { ...verb("inspect(?: .*)?"), option: /\.Env\b/ },
  verb("swarm join-token"),
];
const deploys = /^(?:deploy|--prod|publish)$/;
const machines: Effect = {
  does: "medium privilege_escalation",
  says: "$n changes machines.",
  min: 1,
  unless:
    /^(?:-C|--check|--syntax-check|--list-\w+|--noop|--why-run|-W|test=True|-T|--tasks|-l|--list|--version|lint|validate|parser|module|lookup|facts|describe|config|help|setup|app|server|logs|details)$/i,
};

export const cloud: Programs = {
  aws: {
    is: ["namesFiles"],
    options:
      "- profile= region= output= endpoint-url= query= ca-bundle= color= cli-read-timeout= cli-connect-timeout= no-verify-ssl no-paginate no-sign-request debug",
    stopsAtOperand: true,
    rules: ["awsCopy"],
    effects: [
      { does: "high recursive_delete", says: "It deletes $1 in the cloud.", words: /^s3 (?:rm|rb) (\S+)/ },
      { does: "high recursive_delete", says: "It deletes data in the cloud.", words: /^s3 (?:rm|rb)$/ },
      { does: "high exfiltration", says: "It uploads data to the cloud.", words: /^s3api put/ },
      {
        does: "high credential_change",
        says: "It changes stored cloud credentials.",
        words: /^configure(?! (?:list|get|list-profiles)(?: |$))(?: |$)/,
      },
      {
        does: "high credential_change",
        says: "It changes who may use the cloud account.",
        words: /^iam (?:create|put|attach|update|add|delete|upload)/,
      },
      {
        does: "high recursive_delete",
        says: "It destroys something in the cloud: $c.",
        words: /^\S+ (?:terminate|delete|schedule-key-deletion)/,
      },
      {
        does: "medium exfiltration",
        says: "It changes the cloud account.",
        words: /^\S+ (?:stop|reboot|run|create|put|update|invoke|send|deploy|execute|start|modify|import|register)/,
      },
    ],
    secrets: [
      verb(
        "secretsmanager (?:batch-)?get-secret-value|ssm get-parameters?(?:-by-path|-history)?|sts (?:get-session-token|get-federation-token|assume-role\\S*)|configure export-credentials|configure get \\S*(?:secret|session_token)\\S*|ecr(?:-public)? (?:get-login-password|get-authorization-token)|codeartifact (?:get-authorization-token|login)|rds generate-db-auth-token|kms decrypt|eks get-token|ec2 get-password-data|sso get-role-credentials|iam create-access-key|redshift get-cluster-credentials|cognito-idp describe-user-pool-client",
      ),
    ],
  },
  gcloud: {
    rules: ["gcloud"],
    client: 4,
    secrets: [
      verb(
        "auth (?:print-\\S+|application-default print-\\S+)|secrets versions access|config config-helper|kms decrypt|services api-keys get-key-string|iam service-accounts keys create",
      ),
    ],
  },
  az: {
    rules: ["gcloud"],
    client: 4,
    secrets: [
      verb(
        "keyvault (?:secret|key|certificate) (?:show|download|backup)|account get-access-token|(?:\\S+ )?(?:account )?(?:keys|credential|admin-key) (?:list|show)|(?:redis|batch account|maps account) (?:list-keys|keys list)|acr credential show|(?:webapp|functionapp) config (?:appsettings|connection-string) list|(?:functionapp|cosmosdb|servicebus \\S+ authorization-rule) keys list|containerapp secret show|ad sp create-for-rbac|sql db show-connection-string|storage account show-connection-string",
      ),
      { ...verb("acr login"), option: /^--expose-token$/ },
      { ...verb("containerapp secret list"), option: /^--show-values$/ },
    ],
  },
  doctl: {
    rules: ["gcloud"],
    client: 4,
    secrets: [verb("registry docker-config|databases (?:connection|user get)|kubeconfig show")],
  },
  gsutil: { rules: ["gcloud"], client: 4 },
  rclone: { rules: ["copyCloud"], client: 1, secrets: [verb("config (?:show|dump)")] },
  mc: { rules: ["copyCloud"], client: 1, secrets: [verb("alias (?:list|ls)")] },
  s3cmd: { rules: ["copyCloud"], client: 1, secrets: [{ option: /^--dump-config$/ }] },
  "b2 s5cmd": { rules: ["copyCloud"], client: 1 },
  "gdrive dropbox onedrive": { rules: ["copyCloud"] },
  gh: { is: ["namesFiles", "showsText"], prints: "client", rules: ["gh"], secrets: ghSecrets },
  glab: { like: "gh" },
  hub: { rules: ["gh"], secrets: ghSecrets.slice(0, 1) },
  vercel: { deploys, client: 1, secrets: [verb("env pull")] },
  netlify: { deploys, client: 1, secrets: [verb("env:(?:list|get|clone)")] },
  firebase: { deploys, client: 1, secrets: [verb("functions:(?:config:get|secrets:access)|login:ci")] },
  wrangler: { deploys, client: 1 },
  "surge now": { deploys },
  "fly flyctl": {
    rules: ["remoteShell"],
    client: 1,
    secrets: [verb("secrets(?: (?:list|ls))?|auth token|tokens create \\S+")],
  },
  heroku: { rules: ["remoteShell"], client: 1, secrets: [verb("config(?::get)?|auth:token|pg:credentials:url")] },
  railway: {
    client: 1,
    secrets: [verb("variables?(?: list)?"), { words: /(?:^| )(?:run|exec\S*)(?: \S+)*? (?:env|printenv)(?: |$)/ }],
  },
  supabase: { client: 4, secrets: [verb("projects api-keys")] },
  eas: { secrets: [verb("env:pull|credentials")] },
  cf: { client: 1, secrets: [verb("oauth-token|env \\S+|service-key \\S+")] },
  "linode-cli": { client: 4, secrets: [verb("lke kubeconfig-view")] },
  ibmcloud: { client: 4, secrets: [verb("iam oauth-tokens|resource service-key \\S+")] },
  databricks: { secrets: [verb("auth token|secrets get-secret|tokens create")] },
  "pscale turso": { client: 1, secrets: [verb("password create|db tokens create|auth token")] },
  "neonctl neon": { secrets: [verb("connection-string|cs")] },
  stripe: { secrets: [{ ...verb("config"), option: /^--list$/ }] },
  snyk: { secrets: [verb("config get api")] },
  "cdk cdktf sam eksctl kops serverless sls sst copilot helmfile skaffold render kamal dokku kind k3d incus virsh velero knife influx colima qm pct xe govc vboxmanage prlctl snapper timeshift k0s openstack nova civo exo vultr-cli aliyun skopeo crane distrobox toolbox restic":
    { client: 1 },
  "hcloud scw oci eb flux": { client: 4 },
  borg: { client: 1, secrets: [verb("key export")] },

  // Clusters.
  kubectl: {
    is: ["namesFiles", "otherO"],
    prints: "client",
    rules: ["kubectl"],
    installs: { words: /^krew (?:install|upgrade)\b/ },
    client: 1,
    secrets: [getSecrets, getTokens, viewConfig],
  },
  oc: {
    is: ["otherO"],
    prints: "client",
    rules: ["kubectl"],
    client: 1,
    secrets: [
      getSecrets,
      getTokens,
      viewConfig,
      verb("extract secrets?(?:/| )\\S+"),
      { words: /^whoami/, option: /^(?:-t|--show-token)$/ },
    ],
  },
  k3s: { rules: ["kubectl"], secrets: [getSecrets, getTokens] },
  microk8s: { secrets: [getSecrets] },
  minikube: { printsCode: setupWords, client: 1, secrets: [getSecrets] },
  krew: { installs: { words: /^(?:install|upgrade)\b/ } },
  helm: {
    is: ["otherO"],
    prints: "client",
    installs: { words: /^plugin (?:install|update)\b/ },
    client: 1,
    secrets: [verb("get (?:values|all)"), { ...verb("get manifest"), tier: "medium" }],
  },
  argocd: { client: 4, secrets: [verb("admin initial-password|account generate-token")] },
  etcdctl: { secrets: [{ words: /\/secrets(?:\/|$| )/ }] },
  consul: {
    client: 1,
    secrets: [
      { ...verb("kv export"), tier: "medium" },
      { ...verb("kv get"), option: /^--?recurse$/, tier: "medium" },
    ],
  },
  nomad: { client: 4, secrets: [verb("var get")] },

  // Machines that files describe.
  "terraform tofu": { client: 1, secrets: stateSecrets },
  terragrunt: { client: 4, secrets: stateSecrets },
  pulumi: { client: 1, secrets: [{ option: /^--show-secrets(?:=true)?$/ }, verb("config get")] },
  vagrant: { rules: ["remoteShell"], client: 0 },
  "multipass lxc": { rules: ["remoteShell"], client: 1 },
  adb: { rules: ["remoteShell"] },
  "ansible-playbook puppet chef-client chef-solo chef-apply salt salt-call salt-ssh cap": {
    is: ["destroys"],
    ...machines,
  },
  "ansible-pull": {
    is: ["destroys"],
    does: "high pipe_to_shell",
    says: "$n runs what it fetches from another machine.",
  },
  ansible: { options: "a:m:i:u:e:l:bkK args= module-name= inventory= user= extra-vars= become", runs: "a args" },
  "ansible-galaxy": {
    installs: { words: /^(?:(?:role|collection) )?install \w/, into: ["roles-path", "collections-path", "p"] },
  },

  // Containers.
  docker: { is: ["namesFiles"], rules: ["docker"], secrets: dockerSecrets },
  podman: {
    is: ["namesFiles"],
    rules: ["docker"],
    secrets: [...dockerSecrets, { ...verb("secret inspect"), option: /^--showsecret(?:=true)?$/ }],
  },
  nerdctl: { rules: ["docker"], secrets: dockerSecrets.slice(0, 1) },
  "docker-compose buildah ctr": { rules: ["docker"] },
  "docker-machine": { printsCode: setupWords },
};
