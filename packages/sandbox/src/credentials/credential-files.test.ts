import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isCredentialFile } from "./credential-files.ts";

const homes = { home: "/home/ann", agentDir: "/srv/tau" };
const isSecret = (path: string) => isCredentialFile(path, homes);

/** Files that let somebody into tau, or hold secrets of its user. */
const ownSecrets = [
  ..."gateway gateway/devices.json gateway/local.token gateway/control.sock gateway/gateway.log auth.json auth.json.lock".split(
    " ",
  ),
  ..."models.json models.yml catalogue.json mcp.json profiles/work.json history.jsonl spool/1.json".split(" "),
  ..."approvals.json answers.json trust.json trusted-projects.json extension-trust.json audit.jsonl audit.jsonl.1 costs.jsonl costs.jsonl.lock drafts/x-1.txt".split(
    " ",
  ),
  "agents/bob/auth.json",
];

describe("of tau's own directory", () => {
  test.each(["/srv/tau", "/home/ann/.tau", "/home/bob/.tau", "/root/.tau", "/home/ann/.pi/agent"])(
    "%s",
    (directory) => {
      for (const path of ownSecrets) expect([path, isSecret(`${directory}/${path}`)]).toEqual([path, true]);
      const open =
        "settings.json skills/pdf/SKILL.md prompts/x.md agents/bob/system-prompt.md npm/node_modules/x/auth.json";
      for (const path of `${open} memory/x.md sessions/x/y.jsonl docs/gateway.md`.split(" ")) {
        expect([path, isSecret(`${directory}/${path}`)]).toEqual([path, false]);
      }
    },
  );
});

const secrets = [
  ...ownSecrets.map((path) => `/srv/tau/${path}`),
  "/srv/tau/auth.json",
  "/srv/tau/auth.json.0191-draft",
  "/srv/tau/agents/bob/auth.json",
  "/srv/tau/keys/signing",
  "/srv/tau/client.pem",
  "/home/ann/.tau/auth.json",
  "/home/ann/.tau/agents/bob/auth.json",
  "/home/ann/.ssh/id_ed25519",
  "/home/ann/.ssh/work/id_rsa",
  "/home/ann/.ssh/work/config",
  "/home/ann/.ssh/identity of ann",
  "/home/ann/.gnupg",
  "/home/ann/.gnupg/private-keys-v1.d/x.key",
  "/home/ann/.aws/credentials",
  "/home/ann/.aws/sso/cache/1.json",
  "/home/ann/.netrc",
  "/home/ann/.git-credentials",
  "/home/ann/.config/gcloud/application_default_credentials.json",
  "/home/ann/.config/gh/hosts.yml",
  "/home/ann/.kube/config",
  "/home/ann/.docker/config.json",
  "/home/ann/.npmrc",
  "/home/ann/.pypirc",
  "/home/ann/.cargo/credentials",
  "/home/ann/.cargo/credentials.toml",
  "/home/ann/.azure/msal_token_cache.json",
  "/home/ann/.pi/agent/auth.json",
  "/home/ann/.claude/.credentials.json",
  "/home/ann/.codex/auth.json",
  "/home/ann/.local/share/opencode/auth.json",
  "/home/ann/.openclaw/agents/main/agent/auth-profiles.json",
  "/home/ann/.mozilla/firefox/x.default/logins.json",
  "/home/ann/Library/Application Support/Google/Chrome/Default/Login Data",
  "/home/ann/Library/Keychains/login.keychain-db",
  "/home/ann/.local/share/keyrings/login.keyring",
  "/etc/shadow",
  "/etc/shadow-",
  "/etc/gshadow",
  "/private/etc/master.passwd",
  "/etc/ssh/ssh_host_ed25519_key",
  "/run/secrets/token",
  "/proc/1/environ",
  "/proc/1/task/2/environ",
  "/proc/77/mem",
  "/tmp/krb5cc_1000",
];

test.each(secrets)("%s holds credentials", (path) => {
  expect(isSecret(path)).toBe(true);
});

test("every kind of credential of the system is one", () => {
  const paths = `
etc/shadowx etc/gshadowx etc/master.passwd etc/spwd.db etc/security/opasswd etc/krb5.keytab
etc/ssh/ssh_host_x_key etc/ssl/private etc/pki/tls/private etc/letsencrypt/live etc/letsencrypt/archive
etc/letsencrypt/accounts etc/NetworkManager/system-connections etc/wpa_supplicant etc/wireguard
etc/ppp/x-secrets etc/ipsec.secrets etc/kubernetes/x.conf etc/kubernetes/pki etc/rancher/k3s/k3s.yaml
etc/docker/key.json etc/sssd var/lib/sss/secrets var/lib/NetworkManager var/db/dslocal var/lib/kubelet/pki
var/run/secrets run/secrets run/user/x/keyring run/credentials tmp/krb5ccx Library/Keychains proc/x/environ
proc/x/task/x/environ proc/x/mem proc/x/task/x/mem proc/kcore dev/mem dev/kmem Windows/System32/config
Windows/NTDS ProgramData/Microsoft/Crypto
  `;
  for (const path of paths.trim().split(/\s+/)) expect([path, isSecret(`/${path}`)]).toEqual([path, true]);
});

test.each(
  `
.m2/settings.xml .m2/settings-security.xml .gradle/gradle.properties .nuget/NuGet/NuGet.Config
.config/NuGet/NuGet.Config .yarnrc.yml .sentryclirc .subversion/auth/svn.simple/x
Library/Application?Support/Subversion/auth .cloudflared/cert.pem .cloudflared/5f1c.json .config/.wrangler/config
.config/ngrok/ngrok.yml .ngrok2/ngrok.yml .minikube/ca.key .minikube/profiles/minikube/client.key .talos/config
.config/talos/config.yaml .config/helm/registry/config.json .config/helm/repositories.yaml .pulumi/credentials.json
.railway/config.json .config/planetscale/access-token .doppler/.doppler.yaml .infisical/infisical-config.json
infisical-keyring/x .twilio-cli/config.json .config/netlify/config.json Library/Preferences/netlify/config.json
.local/share/com.vercel.cli/auth.json Library/Application?Support/com.vercel.cli/auth.json .bluemix/config.json
.expo/state.json .clasprc.json .consul-token .nomad-token .config/io.datasette.llm/keys.json
Library/Application?Support/io.datasette.llm/keys.json .config/filezilla/sitemanager.xml
.local/share/DBeaverData/workspace6/General/.dbeaver/credentials-config.json .config/keepassxc/keepassxc.ini
.local/share/atuin/key .local/share/atuin/history.db .config/Slack/Cookies .config/Signal/config.json
.config/Code/User/globalStorage/state.vscdb .config/Cursor/User/globalStorage/state.vscdb
Library/Application?Support/Code/User/globalStorage/state.vscdb .vscode-server/data/User/globalStorage/x .Xauthority
.bash_history .zsh_history .local/share/fish/fish_history .python_history .psql_history .node_repl_history .lesshst
.config/rclone/rclone.conf .rclone.conf
`
    .trim()
    .split(/\s+/),
)("%s of a home directory holds credentials", (path) => {
  expect(isSecret(`/home/ann/${path.replaceAll("?", " ")}`)).toBe(true);
});

test.each([
  "/home/ann",
  "/home/ann/.ssh",
  "/home/ann/.ssh/id_ed25519.pub",
  "/home/ann/.ssh/work/id_rsa.pub",
  "/home/ann/.ssh/known_hosts",
  "/home/ann/.ssh/config",
  "/home/ann/.ssh/authorized_keys",
  "/home/ann/.aws/config",
  "/home/ann/.cargo/config.toml",
  "/home/ann/.config/gh/config.yml",
  "/home/ann/.npmrc.d",
  "/home/ann/.docker",
  "/home/ann/.m2/repository/x/settings.xml",
  "/home/ann/.gradle/caches/x",
  "/home/ann/.nuget/packages/x",
  "/home/ann/.config/Code/User/settings.json",
  "/home/ann/.cloudflared/config.yml",
  "/home/ann/.talos/x",
  "/home/ann/.config/fish/config.fish",
  "/home/ann/.expo/cache",
  "/home/ann/app/.env",
  "/home/ann/app/.env.local",
  "/home/ann/app/.npmrc",
  "/home/ann/app/auth.json",
  "/home/ann/app/.ssh/id_rsa",
  "/srv/tau/settings.json",
  "/srv/tau/skills/pdf/auth.json",
  "/srv/tau-other/auth.json",
  "/etc/passwd",
  "/etc/ssh/ssh_host_ed25519_key.pub",
  "/etc/hosts",
  "/proc/1/status",
  "/proc/cpuinfo",
  "/tmp/x",
  "/",
])("%s holds none", (path) => {
  expect(isSecret(path)).toBe(false);
});

describe("the credentials of others are credentials:", () => {
  test.each([
    "/root/.ssh/id_rsa",
    "/var/root/.ssh/id_rsa",
    "/home/bob/.aws/credentials",
    "/var/home/bob/.netrc",
    "/Users/bob/.kube/config",
    "/mnt/c/Users/bob/.ssh/id_rsa",
    String.raw`C:\Users\bob\.ssh\id_rsa`,
  ])("%s", (path) => {
    expect(isSecret(path)).toBe(true);
  });

  test("also where one's own home is above theirs", () => {
    expect(isCredentialFile("/root/.ssh/id_rsa", { home: "/", agentDir: "/.tau" })).toBe(true);
    expect(isCredentialFile("/.ssh/id_rsa", { home: "/", agentDir: "/.tau" })).toBe(true);
  });
});

test("no spelling that some file system takes for the same name makes a credential readable", () => {
  const spelled = (path: string) =>
    fc
      .array(fc.constantFrom("upper", "slash", "end", "dot", "stream", "ignored", "wide"), { maxLength: 3 })
      .map((how) =>
        how.reduce((text, one) => {
          if (one === "upper") return text.toUpperCase();
          if (one === "slash") return text.replaceAll("/", "//");
          if (one === "end") return `${text}/`;
          if (one === "dot") return `${text}. `;
          if (one === "stream") return `${text}::$DATA`;
          if (one === "ignored") return text.replace(/\/(?=[^/]+$)/, "/\u200c");
          return text.replaceAll("e", "\uff45");
        }, path),
      );
  const given = fc.constantFrom(...secrets).chain(spelled);
  fc.assert(
    fc.property(given, (path) => {
      expect(isSecret(path), path).toBe(true);
    }),
    { numRuns: 500 },
  );
});

test("an exception does not grow with its spelling", () => {
  for (const name of ["CONFIG", "config.", "id_rsa .pub\u200c", "known_hosts ", "id_rsa:x.pub", "id_rsa.PUB"]) {
    expect(isSecret(`/home/ann/.ssh/${name}`), name).toBe(true);
  }
});
