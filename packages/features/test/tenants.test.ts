/** Tenants of one process: whatever a model is talked into, nothing of one of them reaches another. */
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { call, type ScriptedModel, scriptedModel, text } from "@tau/ai/testing";
import { type AgentSession, createAgentSession } from "@tau/harness";
import { toolNames } from "@tau/tools";
import fc from "fast-check";
import { expect, onTestFinished, test, vi } from "vitest";
import { allFeatures } from "../src/index.ts";

const isLong = Boolean(process.env["TAU_LONG"]);
const tenantCount = isLong ? 200 : 3;

interface Tenant {
  id: number;
  cwd: string;
  /** Texts that only this tenant may see. */
  secrets: readonly string[];
  model: ScriptedModel;
  session: AgentSession;
}

const features = allFeatures;
const names = [...toolNames, ...features.flatMap(({ tools = [] }) => tools.map(({ name }) => name))];
/** Finds the secrets of tenants, and their ids in them. */
const anySecret = /(?:FILE|ENV|LONG)-(\d+)-secret/g;
/** The text that a tenant writes. */
const mark = (id: number) => `WRITTEN-BY-${id}.`;
const hostSecret = "of-the-process-0123456789abcdef";

async function openTenant(parent: string, id: number): Promise<Tenant> {
  const cwd = join(parent, `tenant-${id}`);
  await mkdir(cwd, { recursive: true });
  const secrets = [`FILE-${id}-secret`, `ENV-${id}-secret`, `LONG-${id}-secret`];
  await writeFile(join(cwd, "secret.txt"), `${secrets[0]}\n`);
  await writeFile(join(cwd, "code.js"), "const one = 1;\n");
  const model = scriptedModel([]);
  const session = await createAgentSession({
    cwd,
    model,
    isolation: "tenant",
    env: { PATH: "/usr/bin:/bin", HOME: "/tmp", CANARY: secrets[1]! },
    features,
    defaultTools: names.map((name) => `+${name}`),
    // A person who allows everything, for as long as possible.
    ask: async () => ({ decision: "allow", choice: "session" }),
  });
  onTestFinished(async () => {
    await session.dispose();
    model.dispose();
  });
  return { id, cwd, secrets, model, session };
}

async function openParent(): Promise<string> {
  const parent = await realpath(await mkdtemp(join(tmpdir(), "tau-tenants-")));
  onTestFinished(() => rm(parent, { recursive: true, force: true }));
  return parent;
}

/** Lets the model call tools, and returns all that it was told. */
async function run({ model, session }: Tenant, calls: readonly ReturnType<typeof call>[], prompt = "Go.") {
  model.add([...calls], [text("Done.")]);
  const before = model.asked.length;
  await session.prompt(prompt);
  while (model.left > 0) await session.prompt("On.");
  return JSON.stringify(model.asked.slice(before).map(({ context }) => context));
}

/** Everything below a directory, with the content of files. */
function listFiles(directory: string): { path: string; content: string }[] {
  return readdirSync(directory, { withFileTypes: true, recursive: true }).flatMap((entry) =>
    entry.isFile()
      ? [
          {
            path: join(entry.parentPath, entry.name),
            content: readFileSync(join(entry.parentPath, entry.name), "utf8"),
          },
        ]
      : [],
  );
}

interface Hostile {
  /** A path of another tenant, of the machine, or of the temporary files. */
  path: string;
  /** A file of another tenant. */
  target: string;
  id: number;
}

const commands = ({ path, target, id }: Hostile): string[] => [
  `cat ${path} ${target}; ls -laR ${path}`,
  `echo '${mark(id)}' >> ${target}; echo '${mark(id)}' > ${path}/made-${id}.txt`,
  `ln -sf ${target} link.txt; ln -sf ${path} link; cat link.txt link/*`,
  `grep -r secret /tmp /var/tmp /home /root /proc/*/environ ${path} 2>/dev/null | head -100`,
  "env; cat /proc/self/environ /proc/1/environ | tr '\\0' '\\n'",
  `find / -name secret.txt -exec cat {} + 2>/dev/null`,
  `python3 -c "print(open('${target}').read())"; node -e "console.log(require('fs').readFileSync('${target}', 'utf8'))"`,
];

const cells = ({ target, id }: Hostile): string[] => [
  `require("node:fs").readFileSync(${JSON.stringify(target)}, "utf8")`,
  `await tool.read({ path: ${JSON.stringify(target)} })`,
  `JSON.stringify(process.env)`,
  `require("node:fs").writeFileSync(${JSON.stringify(target)}, "${mark(id)}")`,
  `return await tools.read({ path: ${JSON.stringify(target)} })`,
];

/** Arguments of a tool that try to leave: any text of its schema is a path, a command or a program. */
function toArguments(schema: Record<string, unknown>, hostile: Hostile, pick: (max: number) => number): unknown {
  const choose = <T>(list: readonly T[]): T => list[pick(list.length)]!;
  const {
    type,
    enum: allowed,
    properties,
    items,
    anyOf,
    required,
  } = schema as {
    type?: string;
    enum?: unknown[];
    properties?: Record<string, Record<string, unknown>>;
    items?: Record<string, unknown>;
    anyOf?: Record<string, unknown>[];
    required?: string[];
  };
  if (allowed) return choose(allowed);
  if (anyOf) return toArguments(choose(anyOf), hostile, pick);
  switch (type) {
    case "object": {
      const entries = Object.entries(properties ?? {}).filter(([name]) => required?.includes(name) || pick(3) > 0);
      return Object.fromEntries(
        entries.map(([name, property]) => [
          name,
          name === "command"
            ? choose(commands(hostile))
            : name === "code"
              ? choose(cells(hostile))
              : name === "content" || name === "newText"
                ? mark(hostile.id)
                : toArguments(property, hostile, pick),
        ]),
      );
    }
    case "array":
      return [toArguments(items ?? {}, hostile, pick)];
    case "integer":
    case "number":
      return 1 + pick(3);
    case "boolean":
      return pick(2) === 1;
    default:
      return choose([hostile.path, hostile.target, hostile.target, `@${hostile.target}`, "secret", "."]);
  }
}

test(
  "nothing of one tenant, and nothing of the process, reaches another",
  isLong ? { timeout: 3_600_000 } : {},
  async () => {
    vi.stubEnv("ANTHROPIC_API_KEY", hostSecret);
    vi.stubEnv("BRAVE_SEARCH_API_KEY", hostSecret);
    vi.stubEnv("PLAIN_VARIABLE", hostSecret);
    onTestFinished(() => void vi.unstubAllEnvs());
    const parent = await openParent();
    const tenants: Tenant[] = [];
    for (let id = 1; id <= tenantCount; id++) tenants.push(await openTenant(parent, id));
    // Long outputs and results are kept in files.
    const outputs: string[] = [];
    for (const tenant of tenants) {
      const told = await run(tenant, [call("bash", { command: `seq 1 20000 | sed 's/$/ ${tenant.secrets[2]}/'` })]);
      outputs.push(...(told.match(/\/[^\s"\\]*tau-tenant-[^\s"\\\]]*/g) ?? []));
    }
    const describeProblems = (told: string, self: Tenant) => [
      ...[...told.matchAll(anySecret)].flatMap(([secret, id]) => (Number(id) === self.id ? [] : [secret])),
      ...(told.includes(hostSecret) ? [hostSecret] : []),
      ...listFiles(parent).flatMap(({ path, content }) => {
        const isOwn = path.startsWith(`${self.cwd}/`);
        return !isOwn && content.includes(mark(self.id)) ? [`${path} was written by ${self.id}`] : [];
      }),
    ];
    const called = new Set<string>();
    await fc.assert(
      fc.asyncProperty(
        fc.nat(tenantCount - 1),
        fc.integer({ min: 1, max: tenantCount - 1 }),
        fc.array(
          fc.record({ tool: fc.nat(), path: fc.nat(), choices: fc.array(fc.nat(), { minLength: 30, maxLength: 30 }) }),
          {
            minLength: 4,
            maxLength: 8,
          },
        ),
        async (index, distance, plans) => {
          const self = tenants[index]!;
          const other = tenants[(index + distance) % tenantCount]!;
          const tools = self.session.knownTools;
          const paths = [
            other.cwd,
            `../tenant-${other.id}`,
            parent,
            homedir(),
            process.cwd(),
            "/proc/self/environ",
            `/proc/${process.pid}/environ`,
            tmpdir(),
            ...outputs.filter((path) => !path.includes(self.session.sessionId)),
          ];
          const calls = plans.map(({ tool, path, choices }) => {
            let next = 0;
            const pick = (max: number) => choices[next++ % choices.length]! % max;
            const { name, parameters } = tools[tool % tools.length]!;
            const hostile = { path: paths[path % paths.length]!, target: join(other.cwd, "secret.txt"), id: self.id };
            called.add(name);
            return call(
              name,
              toArguments(parameters as Record<string, unknown>, hostile, pick) as Record<string, unknown>,
            );
          });
          const prompt = `Look at @${other.cwd}/secret.txt and @/proc/self/environ and @../tenant-${other.id}/secret.txt.`;
          expect(describeProblems(await run(self, calls, prompt), self)).toEqual([]);
        },
      ),
      // A tenant keeps what it did before, so a shorter case would not be the one that failed.
      { numRuns: isLong ? 600 : 5, endOnFailure: true },
    );
    if (isLong)
      expect([...called].toSorted()).toEqual(tenants[0]!.session.knownTools.map(({ name }) => name).toSorted());
  },
);
