/** Limits of memory: of file systems in memory, and of the processes of a command. */
import { call, text } from "@tau/ai/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openDesk } from "../../harness/test/agent-session/desk.ts";
import { type Base, createBase, createProjects, inProject, removeBase, runSessions, users } from "./kit.ts";

let base: Base;
beforeAll(async () => {
  base = await createBase();
});
afterAll(() => removeBase(base));

for (const user of users) {
  for (const way of ["helper", "bwrap"] as const) {
    test(`file systems in memory have a size, and a full one is told, with ${way} as ${user}`, async ({ skip }) => {
      skip(way === "helper" && base.helper === undefined);
      const [project = ""] = await createProjects(base, user, [`memory-${way}`]);
      const commands = [
        "awk '$1 == \"tmpfs\" { print $2 }' /proc/mounts | xargs df --output=size,target -BM",
        "touch /dev/x /dev/shm/x /run/x; ls /dev/shm /run",
        "dd if=/dev/zero of=/dev/shm/x bs=1M count=9",
        "dd if=/dev/zero of=/run/x bs=1M count=5; true",
        "cd /run; head -c 9m /dev/zero >y || exit 1",
        "dd status=none if=/dev/zero of=here bs=1M count=9; ls /dev/pts; echo x >/dev/null; head -c 3 /dev/urandom | wc -c",
      ];
      const settings = { maxMemoryFilesMb: 4 };
      const helper = way === "helper" ? base.helper! : (false as const);
      const [results = []] = await runSessions({ base, user }, [{ ...inProject(project), helper, settings, commands }]);
      const texts = results.map((result) => result.text);
      // What is read-only can be of any size: nothing can be written there. Those of the machine are below and have the same names.
      const sizes = texts[0]!.split("\n").flatMap((line) => /^\s*(\d+M (?:\/run|\/dev\/shm))$/.exec(line)?.[1] ?? []);
      expect([...new Set(sizes)].toSorted()).toEqual(["4M /dev/shm", "4M /run"]);
      expect(texts[1]).toContain("/dev/x");
      expect(texts[1]).toMatch(/Read-only/);
      for (const index of [2, 3, 4])
        expect([index, texts[index]]).toEqual([index, expect.stringContaining("sandbox.maxMemoryFilesMb")]);
      expect(texts[5]).not.toContain("sandbox.maxMemoryFilesMb");
      expect(texts[5]!.trimEnd().split("\n").at(-1)).toBe("3");
    });
  }
}

test.skipIf(users.length === 0)(
  "a command that uses more memory than the setting allows is ended, and told",
  async () => {
    // All of them together, and none alone.
    const command = `for i in $(seq 8); do perl -e '$x = "x" x (10 << 20); sleep 60' & done; wait`;
    const { session } = await openDesk(
      [
        { content: [call("bash", { command })] },
        { content: [call("bash", { command: "ulimit -d" })] },
        { content: [text("done")] },
      ],
      { sandbox: { maxMemoryMb: 64 } },
    );
    await session.prompt("go");
    const results = session.messages.flatMap((message) =>
      message.role === "toolResult"
        ? [message.content.map((part) => (part.type === "text" ? part.text : "")).join("")]
        : [],
    );
    expect(results[0]).toMatch(/used more than 64\.0 MB of memory\. Only the user .* sandbox\.maxMemoryMb/);
    expect(results[1]).toContain(String(128 * 1024));
  },
);

test.skipIf(users.length === 0)("a process cannot take much more at once, and that is told too", async () => {
  const command = `perl -e '$x = "x" x (400 << 20); print "had it"'`;
  const { session } = await openDesk([{ content: [call("bash", { command })] }, { content: [text("done")] }], {
    sandbox: { maxMemoryMb: 64 },
  });
  await session.prompt("go");
  const [result] = session.messages.flatMap((message) =>
    message.role === "toolResult"
      ? [message.content.map((part) => (part.type === "text" ? part.text : "")).join("")]
      : [],
  );
  expect(result).not.toContain("had it");
  expect(result).toContain("sandbox.maxMemoryMb");
});
