/** Credentials that environment variables lead to, in the whole program: tools, searches, mentions and commands. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { exitCodes } from "../src/process/exit-codes.ts";
import { createModelWorkspace, run, textReply, toolReply } from "./kit.ts";

beforeEach(() => {
  onTestFinished(() => void vi.unstubAllEnvs());
});

test("a cluster's configuration that KUBECONFIG names is shown by no tool, search, mention or command", async () => {
  const workspace = await createModelWorkspace([
    toolReply("read", { path: "cluster.yaml" }),
    toolReply("grep", { pattern: "token", path: "." }),
    toolReply("bash", { command: "sort < $KUBECONFIG" }),
    toolReply("bash", { command: "sort -- *r.yaml" }),
    textReply("Done."),
  ]);
  const { directory, server } = workspace;
  await writeFile(join(directory, "cluster.yaml"), "token: cluster-token-0123456789\n");
  await writeFile(join(directory, "other.yaml"), "token: nothing-special\n");
  vi.stubEnv("KUBECONFIG", join(directory, "cluster.yaml"));
  const mentioned = await run(workspace, ["-p", "@cluster.yaml", "Read."]);
  expect(mentioned.err).toContain("cluster.yaml is where credentials are kept");
  expect((await run(workspace, ["-p", "Look."])).code).toBe(exitCodes.denied);
  const requests = JSON.stringify(server.requests.map(({ body }) => body));
  expect(requests).toContain("cluster.yaml is where credentials are kept");
  expect(requests).toContain("nothing-special");
  expect(requests).not.toContain("cluster-token-0123456789");
});
