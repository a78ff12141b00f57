import { once } from "node:events";
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { findHiddenPaths } from "./hidden-paths.ts";

/** A credential of each kind. A question mark stands for a blank. */
const credentials = `
.gnupg .password-store .config/sops/age .config/age .local/share/keyrings .local/share/kwalletd .pki/nssdb
.kde/share/apps/kwallet .kde4/share/apps/kwallet .local/share/python_keyring .config/op .config/bitwardenx
Library/Keychains Library/Cookies Library/Group?Containers/x.com.1password
AppData/Roaming/Microsoft/Credentials AppData/Local/Microsoft/Credentials AppData/Roaming/Microsoft/Protect
AppData/Local/Microsoft/Vault AppData/Roaming/Microsoft/Vault AppData/Roaming/Microsoft/Crypto
.aws/credentialsx .aws/sso/cache .aws/cli/cache .aws/login/cache .azure .config/gcloud .boto .s3cfg .oci
AppData/Roaming/gcloud .config/doctl/config.yaml .config/hcloud/cli.toml .config/scw/config.yaml
.config/rclone/rclone.conf .config/linode-cli .fly/config.yml .railway/config.json .supabase/access-token
.config/netlify/config.json .config/.wrangler/config .wrangler/config .local/share/com.vercel.cli/auth.json
.config/configstore/firebase-tools.json .terraform.d/credentials.tfrc.json .vault-token
.pulumi/credentials.json .config/ngrok/ngrok.yml .config/stripe/config.toml .databrickscfg
.snowflake/connections.toml
.kube/config .docker/config.json .config/containers/auth.json .config/helm/registry.json
.netrc _netrc .authinfo .authinfo.gpg .git-credentials .config/git/credentials .config/gh/hosts.yml
.config/hub .config/glab-cli/config.yml AppData/Roaming/GitHub?CLI/hosts.yml .config/github-copilot
.config/tea/config.yml
.npmrc .config/pnpm/rc .pypirc .config/pypoetry/auth.toml .cargo/credentialsx .gem/credentials
.composer/auth.json .config/composer/auth.json .m2/settings-security.xml .sbt/.credentials
.ivy2/.credentials .hex/hex.config .config/hex/hex.config .pub-cache/credentials.json
.config/dart/pub-credentials.json .conda/.anaconda/anaconda-token .huggingface/token
.cache/huggingface/token .cache/huggingface/stored_tokens .kaggle/kaggle.json
.pgpass .my.cnf .mylogin.cnf .config/msmtp .msmtprc .fetchmailrc .smbcredentials .google_authenticator
.mozilla/firefox .thunderbird .config/google-chromex .config/chromium .config/BraveSoftware
.config/microsoft-edgex .config/vivaldix .config/operax snap/firefox/common/.mozilla
snap/chromium/common/chromium .var/app/org.mozilla.firefox .var/app/com.google.Chrome
.var/app/org.chromium.Chromium Library/Application?Support/Google/Chromex
Library/Application?Support/Firefox Library/Application?Support/Chromium
Library/Application?Support/BraveSoftware Library/Application?Support/Microsoft?Edgex
Library/Application?Support/Arc Library/Safari AppData/Roaming/Mozilla/Firefox AppData/Local/Google/Chromex
AppData/Local/Microsoft/Edgex AppData/Local/BraveSoftware
.bitcoin/walletx .electrum/wallets .ethereum/keystore .config/solana/id.json
.tau/auth.jsonx .tau/agents/x/auth.jsonx .tau/gateway .tau/models.json .tau/drafts .pi/agent/auth.jsonx .omp/agent/auth.jsonx .omp/agent/agent.dbx
.openclaw/credentials .openclaw/agents/x/agent/authx.jsonx .claude/.credentials.json .claude.json
.codex/auth.json .gemini/oauth_creds.json .gemini/mcp-oauth-tokensx.json .qwen/oauth_creds.json
.local/share/opencode/auth.json .config/goose/secrets.yaml .local/share/amp/secrets.json
.config/cursor/auth.json .factory/auth.json .kimi/credentials
.ssh/id_ed25519 .ssh/work
.m2/settings.xml .gradle/gradle.properties .nuget/NuGet/NuGet.Config .yarnrc.yml .sentryclirc .subversion/auth
.cloudflared/x.json .talos/config .config/planetscale .doppler .infisical infisical-keyring .twilio-cli/config.json
.bluemix/config.json .expo/state.json .clasprc.json .config/filezilla .local/share/atuin .config/Slack .config/Signal
.config/Code/User/globalStorage .Xauthority .bash_history .local/share/fish/fish_history
`;

const others =
  ".m2/repository/x .gradle/caches/x .nuget/packages/x .config/Code/User/settings.json .aws/config .docker/daemon.json .cargo/config.toml .config/gh/config.yml .claude/settings.json .npm/x .ssh/config .ssh/known_hosts .ssh/authorized_keys .ssh/id_ed25519.pub";

const toPaths = (text: string) =>
  text
    .trim()
    .split(/\s+/)
    .map((path) => path.replaceAll("?", " "));

function createPlace() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "tau-hidden-")));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const place = {
    home: join(root, "home"),
    agentDir: join(root, "agent"),
    workspace: join(root, "ws"),
    replaced: [],
    hidesSockets: true,
  };
  for (const name of ["home", "agent", "ws", "shared"]) mkdirSync(join(root, name));
  const write = (path: string) => {
    mkdirSync(dirname(path), { recursive: true });
    if (!existsSync(path)) writeFileSync(path, "");
    return path;
  };
  return { root, place, write };
}

const list = (options: Parameters<typeof findHiddenPaths>[0]) => findHiddenPaths(options).paths.map(({ path }) => path);

test("every kind of credential in a home is hidden, and what is beside it is not", () => {
  const { place, write } = createPlace();
  const [secrets, rest] = [credentials, others].map((text) => toPaths(text).map((path) => join(place.home, path)));
  for (const path of [...secrets!, ...rest!]) write(path);
  const hidden = new Set(list(place));
  expect(secrets!.filter((path) => !hidden.has(path))).toEqual([]);
  expect(rest!.filter((path) => hidden.has(path))).toEqual([]);
});

test("a name is found in any spelling, and what has changed is known by the directories that were looked at", () => {
  const { place, write } = createPlace();
  const path = write(join(place.home, ".AWS/Credentials"));
  const { paths, looked } = findHiddenPaths(place);
  expect(paths).toContainEqual({ path, isDirectory: false });
  expect(looked).toEqual(expect.arrayContaining([place.home, dirname(path), join(place.home, ".ssh"), "/", "/root"]));
});

test("our own directory is hidden as a whole", () => {
  const { place } = createPlace();
  expect(findHiddenPaths(place).paths).toContainEqual({ path: place.agentDir, isDirectory: true });
});

test("of a link, what it leads to is hidden, since nothing can be mounted on a link or below one", () => {
  const { root, place, write } = createPlace();
  const [netrc, aws] = [write(join(root, "shared/netrc")), write(join(root, "shared/aws/credentials"))];
  symlinkSync(netrc, join(place.home, ".netrc"));
  symlinkSync(dirname(aws), join(place.home, ".aws"));
  symlinkSync("/dev/null", join(place.home, ".pgpass"));
  symlinkSync("nowhere", join(place.home, ".npmrc"));
  const hidden = list(place);
  expect(hidden).toEqual(expect.arrayContaining([netrc, aws]));
  expect(hidden.filter((path) => path.startsWith(place.home) || path === "/dev/null")).toEqual([]);
});

test("what a link of the home leads to in the workspace is a file of the project", () => {
  const { place, write } = createPlace();
  const npmrc = write(join(place.workspace, "npmrc"));
  symlinkSync(npmrc, join(place.home, ".npmrc"));
  expect(list(place)).not.toContain(npmrc);
  expect(list({ ...place, workspace: dirname(place.workspace) })).toContain(npmrc);
});

test("what is in a directory that is replaced as a whole needs no hiding, unless it is in the workspace", () => {
  const { root, place, write } = createPlace();
  const path = write(join(place.home, ".netrc"));
  expect(list({ ...place, replaced: [root] })).not.toContain(path);
  expect(list({ ...place, replaced: [root], workspace: place.home })).toContain(path);
});

test("secrets of the system are hidden where they are, but not those that every sandbox covers", () => {
  const hidden = list(createPlace().place);
  expect(hidden.includes("/etc/shadow")).toBe(existsSync("/etc/shadow"));
  expect(hidden).not.toContain(`/proc/${process.pid}/environ`);
});

async function listen(path: string) {
  const server = createServer().listen(path);
  onTestFinished(() => void server.close());
  await once(server, "listening");
  return path;
}

test("a socket at which a program outside listens is hidden, and one of the project is not", async () => {
  const { root, place, write } = createPlace();
  const [outside, own] = [await listen(join(root, "shared/s")), await listen(join(place.workspace, "s"))];
  const replacedByFile = await listen(join(root, "shared/f"));
  rmSync(replacedByFile);
  write(replacedByFile);
  const hidden = list(place);
  expect(hidden).toContain(outside);
  expect(hidden).not.toContain(own);
  expect(hidden).not.toContain(replacedByFile);
  expect(list({ ...place, replaced: [join(root, "shared")] })).not.toContain(outside);
});

test("a socket is hidden also if it was renamed, as ssh does, or has a link on its way", async () => {
  const { root, place } = createPlace();
  const shared = join(root, "shared");
  symlinkSync(shared, join(root, "link"));
  renameSync(await listen(join(root, "link/drafted")), join(shared, "renamed"));
  await listen(join(root, "link/linked"));
  expect(list(place)).toEqual(expect.arrayContaining([join(shared, "renamed"), join(shared, "linked")]));
});

test("sockets that need no hiding do not count towards the number of those that are hidden", async () => {
  const { root, place } = createPlace();
  const paths = await Promise.all(Array.from({ length: 250 }, (_, index) => listen(join(root, `shared/${index}`))));
  const table = readFileSync("/proc/net/unix", "utf8");
  const [last, ...replaced] = paths.sort((a, b) => table.indexOf(`${b}\n`) - table.indexOf(`${a}\n`));
  expect(list({ ...place, replaced })).toContain(last);
});

test("other names of tau's own secrets in the workspace are hidden, at any depth", () => {
  const { place, write } = createPlace();
  const token = write(join(place.agentDir, "gateway", "local.token"));
  const deep = join(place.workspace, "a", "b");
  mkdirSync(deep, { recursive: true });
  write(join(deep, "open"));
  linkSync(join(deep, "open"), join(deep, "open too"));
  linkSync(token, join(deep, "innocent"));
  const hidden = findHiddenPaths(place).paths.map(({ path }) => path);
  expect(hidden.filter((path) => path.startsWith(place.workspace))).toEqual([join(deep, "innocent")]);
});

test("the secrets of tau's own directory are hidden also in the parts of it that are shown", () => {
  const { place, write } = createPlace();
  const secret = write(join(place.agentDir, "agents", "bob", "auth.json"));
  write(join(place.agentDir, "agents", "bob", "system-prompt.md"));
  const hidden = findHiddenPaths(place).paths.map(({ path }) => path);
  expect(hidden).toContain(secret);
  expect(hidden).toContain(place.agentDir);
  expect(hidden.filter((path) => path.endsWith(".md"))).toEqual([]);
});
