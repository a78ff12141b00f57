/** The part of a script's environment that runs inside QuickJS. Only texts cross its border, most of them JSON. */

/** Describes a tool to a script. */
export interface GuestTool {
  readonly name: string;
  /** The name as an identifier of JavaScript. */
  readonly identifier: string;
  readonly description: string;
}

export interface GuestSetup {
  readonly tools: readonly GuestTool[];
  /** The values of `load`, each as JSON. */
  readonly store: Readonly<Record<string, string>>;
  /** In characters. */
  readonly maxErrorLength: number;
}

/** The kinds of messages of the guest. All but `call` are answered with an empty text, or with what is wrong. */
export type GuestMessage = "call" | "text" | "image" | "console" | "store" | "exit" | "completed" | "failed";

/** The functions of the guest that the worker calls. */
interface GuestHandles {
  settle(id: string, isValue: boolean, json: string): void;
  follow(result: unknown): void;
}

/**
 * Defines the globals of a script. QuickJS gets this function as text, so it must not use anything from outside of it. `send`
 * answers a call with its number, and everything else with an error if there is one. A script may replace any built-in object;
 * what is used here is taken before it runs, so that it deceives itself at most.
 */
export function createGuest(send: (kind: GuestMessage, json: string) => string, setupJson: string): GuestHandles {
  const { parse, stringify } = JSON;
  const { apply } = Reflect;
  const { create, defineProperty, freeze } = Object;
  // oxlint-disable-next-line typescript/unbound-method -- called with `apply`
  const { then } = Promise.prototype;
  const NativePromise = Promise;
  const NativeError = Error;
  const NativeTypeError = TypeError;
  const toText = String;
  // oxlint-disable-next-line typescript/unbound-method -- called with `apply`
  const { slice } = String.prototype;
  const setup = parse(setupJson) as GuestSetup;
  const pending = create(null) as Record<string, { resolve: (value: unknown) => void; reject: (error: Error) => void }>;

  // It would be called with the functions of this one, and so hand them to the script.
  defineProperty(NativeError, "prepareStackTrace", { value: undefined, writable: false, configurable: false });

  const post = (kind: GuestMessage, value: unknown): void => {
    const problem = send(kind, stringify(value));
    if (problem !== "") throw new NativeError(problem);
  };
  const call = (method: string, args: unknown): Promise<unknown> =>
    new NativePromise((resolve, reject) => {
      const answer = send("call", stringify({ method, args }));
      if (answer[0] === "!") throw new NativeError(answer.slice(1));
      pending[answer] = { resolve, reject };
    });
  const show = (value: unknown): string =>
    typeof value === "string" ? value : (stringify(value) ?? toText(value as string));
  const define = (target: object, name: string, value: unknown): void =>
    void defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });

  const tools = create(null) as object;
  const defineTool = (key: string, name: string): void =>
    define(tools, key, (args: unknown = {}) => call("tool", { name, args }));
  for (const { name, identifier } of setup.tools) defineTool(identifier, name);
  // A tool that has a name is never hidden by another whose identifier is that name.
  for (const { name } of setup.tools) defineTool(name, name);
  define(globalThis, "tools", freeze(tools));
  const allTools = setup.tools.map(({ name, description }) => freeze({ name, description }));
  define(globalThis, "ALL_TOOLS", freeze(allTools));

  define(globalThis, "text", (value: unknown) => post("text", show(value)));
  define(globalThis, "image", (value: unknown) => {
    const block = value as { image_url?: unknown; data?: unknown; mimeType?: unknown } | null;
    const url = typeof value === "string" ? value : block?.image_url;
    const parts = typeof url === "string" ? /^data:([^;,]*);base64,(.*)$/su.exec(url) : null;
    const data = parts ? parts[2] : block?.data;
    const mimeType = parts ? parts[1] : block?.mimeType;
    if (typeof data !== "string" || typeof mimeType !== "string")
      throw new NativeTypeError(
        "image() takes a base64 data: URL, { image_url }, or an image block { type, data, mimeType }.",
      );
    post("image", { data, mimeType });
  });
  const log = (...values: unknown[]) => post("console", values.map(show).join(" "));
  define(globalThis, "console", freeze({ log, info: log, warn: log, error: log, debug: log }));
  define(globalThis, "exit", () => {
    post("exit", null);
    throw new NativeError("The script has ended.");
  });

  const store = create(null) as Record<string, string>;
  for (const key in setup.store) store[key] = setup.store[key]!;
  define(globalThis, "store", (key: unknown, value: unknown) => {
    if (typeof key !== "string") throw new NativeTypeError("The key of store() must be a text.");
    const json = value === undefined ? undefined : stringify(value);
    if (value !== undefined && json === undefined) throw new NativeTypeError("store() takes a JSON value.");
    post("store", { key, json: json ?? null });
    if (json === undefined) delete store[key];
    else store[key] = json;
  });
  define(globalThis, "load", (key: unknown) => {
    const json = store[toText(key as string)];
    return json === undefined ? undefined : (parse(json) as unknown);
  });

  define(globalThis, "searchTools", (query: unknown, options: { limit?: unknown; namespace?: unknown } = {}) =>
    call("searchTools", { query, limit: options?.limit, namespace: options?.namespace }),
  );
  define(globalThis, "describeTool", (name: unknown) => call("describeTool", { name }));
  define(globalThis, "describeNamespace", (name: unknown) => call("describeNamespace", { name }));
  define(
    globalThis,
    "models",
    freeze({
      getModelsOfType: (type: unknown, provider: unknown) => call("getModelsOfType", { type, provider }),
      getAvailableOfType: (type: unknown, provider: unknown) => call("getAvailableOfType", { type, provider }),
      getModelOfType: (type: unknown, provider: unknown, id: unknown) => call("getModelOfType", { type, provider, id }),
      classify: (model: { provider?: unknown; id?: unknown } | null, context: unknown) =>
        call("classify", { provider: model?.provider, id: model?.id, context }),
      generateImages: (model: { provider?: unknown; id?: unknown } | null, context: unknown) =>
        call("generateImages", { provider: model?.provider, id: model?.id, context }),
    }),
  );

  return {
    settle(id, isValue, json) {
      const waiting = pending[id];
      if (!waiting) return;
      delete pending[id];
      if (isValue) waiting.resolve(json === "" ? undefined : parse(json));
      else waiting.reject(new NativeError(parse(json) as string));
    },
    follow(result) {
      const completed = (value: unknown) => {
        if (value !== undefined) post("text", show(value));
        post("completed", null);
      };
      const describe = (error: unknown): { message: string; line: string | null } => {
        const { name, message, stack } = (error ?? {}) as { name?: unknown; message?: unknown; stack?: unknown };
        const isError = error instanceof NativeError;
        const line = isError ? /<script>:(\d+)/.exec(toText(stack as string))?.[1] : undefined;
        const description = isError ? `${toText(name as string)}: ${toText(message as string)}` : show(error);
        // Writing a long text as JSON takes seconds.
        return { message: apply(slice, description, [0, setup.maxErrorLength]) as string, line: line ?? null };
      };
      const failed = (error: unknown) => {
        let description = { message: "The script threw a value that cannot be read.", line: null as string | null };
        try {
          description = describe(error);
        } catch {
          // A proxy or a getter: the text above is all that can be said.
        }
        post("failed", description);
      };
      apply(then, apply(then, result, [completed]), [undefined, failed]);
    },
  };
}
