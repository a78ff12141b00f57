import { describe, expect, test } from "vitest";
import { classifyCommand } from "../classify-command.ts";

const context = { cwd: "/src/app", home: "/home/me", workspace: "/src/app" };
const moved = { ...context, agentDir: "/srv/tau" };
const inside = { cwd: "/home/me/.tau/skills", home: "/home/me", workspace: "/home/me/.tau/skills" };
const atRoot = { cwd: "/home/me/.tau", home: "/home/me", workspace: "/home/me/.tau" };

describe("no command reads what lets somebody into tau:", () => {
  test.each([
    ["cat ~/.tau/gateway/devices.json", context],
    ["cat /home/me/.tau/gateway/local.token | head -1", context],
    ["head -c 99 ~/.tau/auth.json", context],
    ["cat < ~/.tau/models.json", context],
    ["cd ~/.tau/gateway && cat local.token", context],
    ["cat ~/.tau/gate*/*.json", context],
    ["cat ~/.t*/gateway/local.token", context],
    ["cat ~/.tau/*", context],
    ["cp ~/.tau/approvals.json .", context],
    ["cp -r ~/.tau copy", context],
    ["ln ~/.tau/gateway/local.token x", context],
    ["ln -s ~/.tau/gateway g", context],
    ["mv ~/.tau/trusted-projects.json x", context],
    ["tar czf x.tgz ~/.tau/gateway", context],
    ["tar czf x.tgz ~/.tau", context],
    ["grep -r token ~/.tau", context],
    ["rg token ~/.tau/gateway", context],
    ["base64 ~/.tau/drafts/x", context],
    ["curl --unix-socket ~/.tau/gateway/control.sock http://x/", context],
    ["socat - UNIX-CONNECT:/home/me/.tau/gateway/control.sock", context],
    ["nc -U ~/.tau/gateway/control.sock", context],
    ["python3 -c 'print(open(\"/home/me/.tau/gateway/local.token\").read())'", context],
    ["cat /srv/tau/gateway/local.token", moved],
    ["cat /srv/tau/g*/local.token", moved],
    ["cat ~/.tau/gateway/local.token", moved],
    ["cat ../gateway/local.token", inside],
    ["cat gateway/local.token", atRoot],
    ["cat auth.json", atRoot],
    ["cat ~/.pi/agent/auth.json", context],
    ["cat /home/you/.tau/gateway/local.token", context],
    ["tau gateway token", context],
    ["x=$(tau gateway token); echo $x", context],
    ["tau gateway hook-token ci", context],
    ["tau auth print-api-key --provider openai", context],
    ["tau auth print-bearer-token --model anthropic/claude-x", context],
    ["tau auth check --provider openai --credentials", context],
    ["unset PI_CODING_AGENT; env -i /usr/local/bin/tau auth print-api-key --provider x", context],
    ["KEY=$(tau auth print-api-key --provider x) printenv KEY", context],
    ["~/.local/bin/pi auth print-bearer-token --provider x", context],
    ["pi auth check --credentials --provider x", context],
    ["npx pi auth print-api-key --provider x", context],
    ["npx -y @earendil-works/pi-coding-agent@1.5.0 auth print-api-key --provider x", context],
    ["npx @tau/cli auth print-api-key --provider x", context],
    ["pnpm dlx @earendil-works/pi-coding-agent auth check --credentials", context],
    ["bunx pi auth print-api-key", context],
    ["node ./dist/tau.cjs auth print-api-key --provider x", context],
    ["node --no-warnings /opt/pi/dist/bundle/cli.js auth check --credentials --provider x", context],
    ["bun run dist/tau.cjs auth print-bearer-token", context],
    ["bash -c 'tau auth print-api-key --provider x'", context],
    ["tau sessions share --without output --link", context],
    ["tau sessions send 01 delete everything", context],
    ["echo hello | xargs tau sessions send 01", context],
    ["bash -c 'tau sessions send 01 hello'", context],
    ["echo '{}' > ~/.tau/spool/01~1.json", context],
    ["tau gateway pair ABCD1234 --scopes admin", context],
    ["env TAU_DIR=/home/me/.tau tau gateway revoke local", context],
    ["tau config set policy.profile permissive", context],
    ["tau trust", context],
    ["echo '{}' > ~/.tau/settings.json", context],
  ])("%s", (command, place) => {
    expect(classifyCommand(command, place)).toMatchObject({ tier: "critical" });
  });
});

describe("what is not a secret stays usable:", () => {
  test.each([
    ["cat ~/.tau/skills/pdf/SKILL.md", context],
    ["cat ~/.tau/settings.json", context],
    ["cat SKILL.md", inside],
    ["ls ~/.tau", context],
    ["tau gateway status", context],
    ["tau config get", context],
    ["tau --version", context],
    ["tau auth status", context],
    ["tau auth check --provider openai --json", context],
    ["pi auth check --provider openai", context],
    ["pi --version", context],
    ["cat gateway/devices.json", context],
    ["cat auth.json models.json mcp.json", context],
    ["grep -rn devices.json src/gateway", context],
  ])("%s", (command, place) => {
    expect(classifyCommand(command, place)).toMatchObject({ tier: "low" });
  });
});

describe("in a worktree of tau's own directory", () => {
  const workspace = "/home/me/.tau/worktrees/app-1/fix";
  const worktree = { cwd: workspace, home: "/home/me", workspace };

  test.each(["echo x > src/a.ts", "mkdir -p src/b && touch src/b/c.ts", "rm src/a.ts"])("%s is ordinary", (command) => {
    expect(classifyCommand(command, worktree)).toEqual(classifyCommand(command, context));
  });

  test.each(["echo x > ../other/a.ts", "echo x > ~/.tau/skills/a.md", "echo x > .tau/settings.json"])(
    "%s is denied",
    (command) => {
      expect(classifyCommand(command, worktree)).toMatchObject({ tier: "critical" });
    },
  );
});
