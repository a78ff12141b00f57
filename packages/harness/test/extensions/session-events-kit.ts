/** Opens a session with one extension. */
import { onTestFinished } from "vitest";
import type { ExtensionFactory } from "@tau/extensions";
import { createTestSession, type TestSessionParams } from "../../src/testing/index.ts";
import type { TestTurn } from "../../src/testing/script.ts";

export async function open(turns: readonly TestTurn[], factory: ExtensionFactory, params: TestSessionParams = {}) {
  const opened = await createTestSession(turns, { ...params, extensions: { factories: [factory] } });
  onTestFinished(() => opened.dispose());
  return opened;
}

export const createCircle = (): unknown => {
  const details: Record<string, unknown> = {};
  return (details["self"] = details);
};
