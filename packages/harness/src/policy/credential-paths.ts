/**
 * The paths of credentials, as data. A path is a file, or a directory with everything below it. A `*` stands for any part
 * of one name, but not of the first one. No policy and no person can allow these paths, so files that people also write
 * by hand for other reasons are left out: outside the workspace a person is asked for them anyway.
 */

/** The names after the first one. */
export type CredentialPath = readonly (string | RegExp)[];

/** Below a home directory. `.ssh` is not among them: it has exceptions. */
const atHome = `
.gnupg .password-store .config/sops/age .config/age .local/share/keyrings .local/share/kwalletd .pki/nssdb
.kde/share/apps/kwallet .kde4/share/apps/kwallet .local/share/python_keyring .config/op .config/bitwarden*
Library/Keychains Library/Cookies Library/Group?Containers/*.com.1password
AppData/Roaming/Microsoft/Credentials AppData/Local/Microsoft/Credentials AppData/Roaming/Microsoft/Protect
AppData/Local/Microsoft/Vault AppData/Roaming/Microsoft/Vault AppData/Roaming/Microsoft/Crypto

.aws/credentials* .aws/sso/cache .aws/cli/cache .aws/login/cache .azure .config/gcloud .boto .s3cfg .oci
AppData/Roaming/gcloud .config/doctl/config.yaml .config/hcloud/cli.toml .config/scw/config.yaml .config/rclone/rclone.conf
.config/linode-cli .fly/config.yml .railway/config.json .supabase/access-token .config/netlify/config.json
.config/.wrangler/config .wrangler/config .local/share/com.vercel.cli/auth.json .config/configstore/firebase-tools.json
.terraform.d/credentials.tfrc.json .vault-token .pulumi/credentials.json .config/ngrok/ngrok.yml
.config/stripe/config.toml .databrickscfg .snowflake/connections.toml

.kube/config .docker/config.json .config/containers/auth.json .config/helm/registry.json

.netrc _netrc .authinfo .authinfo.gpg .git-credentials .config/git/credentials .config/gh/hosts.yml .config/hub
.config/glab-cli/config.yml AppData/Roaming/GitHub?CLI/hosts.yml .config/github-copilot .config/tea/config.yml

.npmrc .config/pnpm/rc .pypirc .config/pypoetry/auth.toml .cargo/credentials* .gem/credentials 
.composer/auth.json .config/composer/auth.json .m2/settings-security.xml 
.sbt/.credentials .ivy2/.credentials .hex/hex.config .config/hex/hex.config .pub-cache/credentials.json
.config/dart/pub-credentials.json .conda/.anaconda/anaconda-token .huggingface/token .cache/huggingface/token
.cache/huggingface/stored_tokens .kaggle/kaggle.json

.pgpass .my.cnf .mylogin.cnf .config/msmtp .msmtprc .fetchmailrc .smbcredentials .google_authenticator

.mozilla/firefox .thunderbird .config/google-chrome* .config/chromium .config/BraveSoftware .config/microsoft-edge*
.config/vivaldi* .config/opera* snap/firefox/common/.mozilla snap/chromium/common/chromium .var/app/org.mozilla.firefox
.var/app/com.google.Chrome .var/app/org.chromium.Chromium Library/Application?Support/Google/Chrome*
Library/Application?Support/Firefox Library/Application?Support/Chromium Library/Application?Support/BraveSoftware
Library/Application?Support/Microsoft?Edge* Library/Application?Support/Arc Library/Safari AppData/Roaming/Mozilla/Firefox
AppData/Local/Google/Chrome* AppData/Local/Microsoft/Edge* AppData/Local/BraveSoftware

.bitcoin/wallet* .electrum/wallets .ethereum/keystore .config/solana/id.json

.tau/auth.json* .tau/agents/*/auth.json* .pi/agent/auth.json* .omp/agent/auth.json* .omp/agent/agent.db*
.openclaw/credentials .openclaw/agents/*/agent/auth*.json* .claude/.credentials.json .claude.json .codex/auth.json
.gemini/oauth_creds.json .gemini/mcp-oauth-tokens*.json .qwen/oauth_creds.json .local/share/opencode/auth.json
.config/goose/secrets.yaml .local/share/amp/secrets.json .config/cursor/auth.json .factory/auth.json .kimi/credentials
`;

const ofSystem = `
etc/shadow* etc/gshadow* etc/master.passwd etc/spwd.db etc/security/opasswd etc/krb5.keytab etc/ssh/ssh_host_*_key
etc/ssl/private etc/pki/tls/private etc/letsencrypt/live etc/letsencrypt/archive etc/letsencrypt/accounts
etc/NetworkManager/system-connections etc/wpa_supplicant etc/wireguard etc/ppp/*-secrets etc/ipsec.secrets
etc/kubernetes/*.conf etc/kubernetes/pki etc/rancher/k3s/k3s.yaml etc/docker/key.json etc/sssd 
var/lib/sss/secrets var/lib/NetworkManager var/db/dslocal var/lib/kubelet/pki var/run/secrets run/secrets
run/user/*/keyring run/credentials tmp/krb5cc* Library/Keychains
proc/*/environ proc/*/task/*/environ proc/*/mem proc/*/task/*/mem proc/kcore dev/mem dev/kmem
Windows/System32/config Windows/NTDS ProgramData/Microsoft/Crypto
`;

/** By the first name. All names are in lower case. */
export type CredentialPaths = ReadonlyMap<string, readonly CredentialPath[]>;

/** Parsed when the first path is judged: many runs never open a file. */
let parsed: { home: CredentialPaths; system: CredentialPaths } | undefined;

export const getHomePaths = (): CredentialPaths => getPaths().home;
export const getSystemPaths = (): CredentialPaths => getPaths().system;

const getPaths = () => (parsed ??= { home: parsePaths(atHome), system: parsePaths(ofSystem) });

function parsePaths(text: string): CredentialPaths {
  const paths = new Map<string, CredentialPath[]>();
  for (const path of text.trim().split(/\s+/)) {
    const [first = "", ...rest] = path.toLowerCase().split("/");
    paths.set(first, [...(paths.get(first) ?? []), rest.map(parseName)]);
  }
  return paths;
}

/** A `?` stands for a blank, since blanks separate the paths. */
function parseName(name: string): string | RegExp {
  const plain = name.replaceAll("?", " ");
  if (!plain.includes("*")) return plain;
  return new RegExp(`^${plain.replaceAll(".", "\\.").replaceAll("*", ".*")}$`, "s");
}
