/** The router of llama.cpp, which loads and unloads models on request. */
import { systemClock } from "@tau/ai";
import { asRecord, closeAfter, platform, resolveLocalBaseUrl, sleep, tryParseJson } from "@tau/ai/internal";
import { HarnessError } from "@tau/protocol";
import { openAccess } from "../commands/access.ts";
import type { Io } from "../commands/command.ts";

interface LlamaModel {
  id: string;
  /** `unloaded`, `loading`, `loaded`, `sleeping` or another word of the server. */
  status: string;
}

export interface LlamaRouter {
  /** Without the path of the API. */
  readonly address: string;
  /** Rejects if the server does not answer, or is no router. */
  list(): Promise<LlamaModel[]>;
  /** Resolves when the model is loaded. Rejects if the server gives up. */
  load(id: string, signal?: AbortSignal): Promise<void>;
  unload(id: string): Promise<void>;
}

interface RouterOptions {
  address: string;
  apiKey?: string | undefined;
  env: (name: string) => string | undefined;
  /** Between two looks at a model that is loading. Default 1,000. */
  pollMs?: number;
}

const timeoutMs = 15_000;
/** A large model on a slow disk. */
const maxLoadMs = 15 * 60_000;

export function createLlamaRouter({ address, apiKey, env, pollMs = 1_000 }: RouterOptions): LlamaRouter {
  const ask = async (method: "GET" | "POST", path: string, body?: object): Promise<Record<string, unknown>> => {
    const headers = {
      accept: "application/json",
      ...(body && { "content-type": "application/json" }),
      ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
    };
    const request = { method, url: `${address}${path}`, headers, body: body ? JSON.stringify(body) : "" };
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await platform.send(request, { signal, env }).catch((error: unknown) => {
      const message = `llama.cpp at ${address} does not answer. Start llama serve, or set LLAMA_BASE_URL.`;
      throw new HarnessError("unavailable", message, { cause: error });
    });
    const chunks: Uint8Array[] = [];
    for await (const chunk of response.body) chunks.push(chunk);
    const answer = asRecord(tryParseJson(Buffer.concat(chunks).toString("utf8")));
    if (response.status === 200) return answer;
    const { message } = asRecord(answer["error"]);
    const reason = typeof message === "string" ? message.slice(0, 300) : `HTTP ${response.status}`;
    throw new HarnessError("unavailable", `llama.cpp at ${address} refused the request: ${reason}`);
  };
  const list = async (): Promise<LlamaModel[]> => {
    const { data } = await ask("GET", "/models");
    const models = (Array.isArray(data) ? data : []).map(asRecord).flatMap(({ id, status }) => {
      const { value } = asRecord(status);
      return typeof id === "string" && typeof value === "string" ? [{ id, status: value }] : [];
    });
    if (models.length > 0) return models;
    const advice = "Start llama serve without a model, with --models-dir.";
    throw new HarnessError("unavailable", `llama.cpp at ${address} is no router, or has no models. ${advice}`);
  };
  return {
    address,
    list,
    async load(id, signal) {
      await ask("POST", "/models/load", { model: id });
      const deadlineMs = systemClock.monotonic() + maxLoadMs;
      for (let hasBegun = false; systemClock.monotonic() < deadlineMs;) {
        const status = (await list()).find((model) => model.id === id)?.status;
        if (status === "loaded" || status === "sleeping") return;
        if (status === "loading") hasBegun = true;
        else if (hasBegun)
          throw new HarnessError("unavailable", `llama.cpp could not load ${id}. Its own log says why.`);
        if ((await sleep(systemClock, pollMs, signal)) === "aborted") return;
      }
      throw new HarnessError("unavailable", `llama.cpp did not load ${id} within ${maxLoadMs / 60_000} minutes.`);
    },
    async unload(id) {
      await ask("POST", "/models/unload", { model: id });
    },
  };
}

/** The router at the address that `models.json` or the environment has. */
export async function openLlamaRouter(io: Io): Promise<LlamaRouter> {
  return await closeAfter(await openAccess(io), async ({ registry, auth, env }) => {
    const baseUrl = registry.baseUrl("llamacpp") ?? resolveLocalBaseUrl("llamacpp", env);
    const key = await auth.getApiKey("llamacpp", { host: baseUrl });
    const apiKey = key.kind === "found" ? key.key : undefined;
    return createLlamaRouter({ address: baseUrl.replace(/\/v1\/*$/, "").replace(/\/+$/, ""), apiKey, env });
  });
}
