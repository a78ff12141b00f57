/** Methods about pages of sessions that whoever has their address may read. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { list, nonEmptyText, oneOf, optional } from "@tau/config/fields";
import { type ExportPart, exportParts } from "@tau/protocol";
import type { MethodData, ShareData } from "@tau/protocol/gateway";
import { GatewayError } from "../errors.ts";
import { findOutsideOrigin } from "../shares/origin.ts";
import type { Share } from "../shares/shares.ts";
import { atSession, method, type MethodContext, type SomeMethods } from "./method.ts";

export const sharesMethods = {
  "shares.create": method(
    atSession,
    { sessionId: nonEmptyText, leaveOut: optional(list(oneOf(...exportParts))) },
    async (context, { sessionId, leaveOut = [] }) => {
      const { parts } = context;
      if (!parts.getSettings().shares) throw new GatewayError("forbidden", linksAreOff);
      const page = await createPage(context, sessionId, leaveOut);
      const { token, ...share } = await parts.shares.add({ sessionId, ...page });
      const origin = findOutsideOrigin(parts.getSettings());
      return { ...toShareData(share), path: `/share/${token}`, ...(origin !== undefined && { origin }) };
    },
  ),
  "shares.list": method({ kind: "all", join: joinLists }, {}, async ({ parts }) => ({
    shares: (await parts.shares.list()).map(toShareData),
  })),
  "shares.revoke": method({ kind: "all", join: joinRevoked }, { id: nonEmptyText }, async ({ parts }, { id }) => ({
    revoked: await parts.shares.revoke(id),
  })),
} satisfies SomeMethods;

const linksAreOff =
  "Links are off, because whoever has one can read the page. To allow them on the gateway's machine: tau config set gateway.shares true";

const toShareData = ({ createdAt, expiresAt, ...share }: Share): ShareData => ({
  ...share,
  createdAt: new Date(createdAt).toISOString(),
  expiresAt: new Date(expiresAt).toISOString(),
});

/** The page as `export_html` writes it, without secrets. */
async function createPage({ parts, client }: MethodContext, sessionId: string, leaveOut: ExportPart[]) {
  const directory = await mkdtemp(join(tmpdir(), "tau-share-"));
  const outputPath = join(directory, "page.html");
  try {
    return await parts.sessions.use(sessionId, client.deviceId, async ({ host, hosted }) => {
      await host.execute(sessionId, { type: "export_html", outputPath, redact: true, leaveOut });
      const title = (await hosted.session.sessionManager.getSessionName()) ?? sessionId;
      return { title, html: await readFile(outputPath, "utf8") };
    });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function joinLists(answers: readonly unknown[]): MethodData<"shares.list"> {
  const shares = (answers as MethodData<"shares.list">[]).flatMap((answer) => answer.shares);
  return { shares: shares.toSorted((a, b) => (a.createdAt < b.createdAt ? 1 : -1)) };
}

function joinRevoked(answers: readonly unknown[]): MethodData<"shares.revoke"> {
  return { revoked: (answers as MethodData<"shares.revoke">[]).some(({ revoked }) => revoked) };
}
