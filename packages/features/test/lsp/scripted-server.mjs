// A language server for tests: `node scripted-server.mjs BEHAVIOUR STARTS`. It answers properly, but for what its behaviour says.
// It appends a line to the file STARTS when it is started.
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

const [behaviour = "good", starts] = process.argv.slice(2);
if (starts) appendFileSync(starts, `${process.pid}\n`);

const write = (bytes) => process.stdout.write(bytes);
const frame = (body) =>
  Buffer.concat([Buffer.from(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n`), Buffer.from(body)]);
const send = (message) => write(frame(JSON.stringify({ jsonrpc: "2.0", ...message })));
const answer = (id, result) => send({ id, result });
const notify = (method, params) => send({ method, params });

if (behaviour === "crash-at-start") {
  process.stderr.write("no such library\n");
  process.exit(3);
}

const capabilities = {
  textDocumentSync: 1,
  hoverProvider: true,
  definitionProvider: true,
  referencesProvider: true,
  documentSymbolProvider: true,
  workspaceSymbolProvider: true,
  renameProvider: true,
  documentFormattingProvider: true,
  codeActionProvider: { resolveProvider: true },
  executeCommandProvider: { commands: ["fix"] },
  workspace: { fileOperations: { willRename: { filters: [] } } },
};

const texts = new Map();
let root = "";
let options;
const lineOf = (uri, line) => (texts.get(uri)?.text ?? "").split("\n")[line] ?? "";
const range = (line, start, end) => ({ start: { line, character: start }, end: { line, character: end } });
const wordAt = ({ textDocument: { uri }, position: { line, character } }) =>
  /^\w*/.exec(lineOf(uri, line).slice(character))[0];

/** Every occurrence of a word in the open files. */
function find(word) {
  return [...texts].flatMap(([uri, { text }]) =>
    text.split("\n").flatMap((content, line) =>
      [...content.matchAll(new RegExp(`\\b${word}\\b`, "g"))].map((match) => ({
        uri,
        range: range(line, match.index, match.index + word.length),
      })),
    ),
  );
}

/** A line with the word "bad" is a problem. */
function report(uri) {
  const { text, version } = texts.get(uri);
  const problems = text.split("\n").flatMap((content, line) =>
    [...content.matchAll(/bad\w*/g)].map((match) => ({
      range: range(line, match.index, match.index + match[0].length),
      severity: 1,
      source: "toy",
      code: 7,
      message: `${match[0]} is not good`,
    })),
  );
  const publish = (diagnostics, more = { version }) =>
    notify("textDocument/publishDiagnostics", { uri, diagnostics, ...more });
  if (behaviour === "silent" || behaviour === "pull" || behaviour === "registers-pull") return;
  if (behaviour === "unversioned") return publish(problems, {});
  if (behaviour === "versions-go-back") {
    publish(problems);
    return publish([], { version: version - 5 });
  }
  if (behaviour === "100k-diagnostics")
    return publish(
      Array.from({ length: 100_000 }, (_, line) => ({ range: range(line, 0, 1), message: `bad ${line}` })),
    );
  if (behaviour === "odd-diagnostics")
    return publish([
      null,
      7,
      { message: 3 },
      { range: range(-1, 0, 0), message: "no" },
      { range: range(0, 5, 1), message: "no" },
      ...problems,
    ]);
  if (behaviour.startsWith("late") && version > 1) return void (late = () => publish(problems));
  publish(problems);
}
let late = () => {};
let pulls = 0;
/** The parameters of `initialize`. */
let hello;

function registerPull(ids, gone) {
  const method = "textDocument/diagnostic";
  const registrations = [
    { id: "x", method: "workspace/other" },
    7,
    ...ids.map((id) => ({ id, method, registerOptions: {} })),
  ];
  send({ id: "r1", method: "client/registerCapability", params: { registrations } });
  send({
    id: "r2",
    method: "client/unregisterCapability",
    params: { unregisterations: gone.map((id) => ({ id, method })) },
  });
}

const handlers = {
  "toy/hello": (id) => answer(id, hello),
  initialize(id, params) {
    const { rootUri, initializationOptions } = params;
    hello = params;
    root = rootUri;
    options = initializationOptions;
    if (behaviour === "whole-project")
      for (const name of readdirSync(fileURLToPath(rootUri)).filter((each) => each.endsWith(".toy"))) {
        const uri = `${rootUri}/${name}`;
        texts.set(uri, { text: readFileSync(fileURLToPath(uri), "utf8"), version: 0 });
      }
    if (behaviour === "crash-at-initialize") process.exit(4);
    if (behaviour === "never-initialises") return;
    if (behaviour === "odd-capabilities") return answer(id, { capabilities: 7 });
    const encoding = behaviour.startsWith("utf-") ? { positionEncoding: behaviour } : {};
    const pull = behaviour === "pull" ? { diagnosticProvider: { interFileDependencies: false } } : {};
    const isOdd = behaviour === "odd-names";
    const odd = isOdd ? { "\u001b[2J\u202eProvider": true } : {};
    const serverInfo = isOdd ? { name: "\u001b[31mtoy\n", version: ["1"] } : { name: "toy", version: "1" };
    answer(id, { capabilities: { ...capabilities, ...encoding, ...pull, ...odd }, serverInfo });
  },
  initialized() {
    if (behaviour === "crash-after-initialize") process.exit(5);
    if (behaviour === "loading") notify("$/progress", { token: "load", value: { kind: "begin", title: "Loading" } });
    if (behaviour === "unasked-edit") return;
    if (behaviour === "registers-pull") setTimeout(() => registerPull(["first", "second"], ["first"]), 50);
    if (behaviour === "wants-settings")
      send({
        id: "s",
        method: "workspace/configuration",
        params: { items: [{ section: "toy.rules" }, {}, { section: "none" }] },
      });
  },
  "textDocument/didOpen"(_id, { textDocument: { uri, text, version } }) {
    texts.set(uri, { text, version });
    report(uri);
  },
  "textDocument/didChange"(_id, { textDocument: { uri, version }, contentChanges }) {
    texts.set(uri, { text: contentChanges.at(-1).text, version });
    report(uri);
  },
  "textDocument/didClose": (_id, { textDocument: { uri } }) => void texts.delete(uri),
  "textDocument/diagnostic"(id, { textDocument: { uri } }) {
    if (behaviour === "registers-pull" && ++pulls < 3)
      return send({ id, error: { code: -32802, message: "cancelled", data: { retriggerRequest: true } } });
    const items = texts.get(uri).text.includes("bad")
      ? [{ range: range(0, 0, 3), severity: 2, message: "pulled" }]
      : [];
    answer(id, { kind: "full", items });
  },
  "textDocument/hover"(id, params) {
    const good = { contents: { kind: "plaintext", value: `word ${wordAt(params)}` } };
    switch (behaviour) {
      case "hang":
        return;
      case "crash-at-question":
        return process.exit(6);
      case "crash-once":
        if (texts.size === 1) return process.exit(6);
        return answer(id, good);
      case "flood":
        for (let index = 0; index < 20_000; index++) notify("window/logMessage", { type: 3, message: "x".repeat(200) });
        return answer(id, good);
      case "endless-flood": {
        const piece = Buffer.concat(
          Array.from({ length: 2_000 }, () =>
            frame(JSON.stringify({ jsonrpc: "2.0", method: "$/x", params: { a: "x".repeat(4_000) } })),
          ),
        );
        const pour = () => {
          while (write(piece));
          process.stdout.once("drain", pour);
        };
        return pour();
      }
      case "stderr-flood":
        process.stderr.write("x".repeat(1_000_000));
        return answer(id, good);
      case "garbage":
        return write("x".repeat(200_000));
      case "deep-answer": {
        const deep = `${"[".repeat(2_000)}${"1,".repeat(500_000)}1${"]".repeat(2_000)}`;
        return write(frame(`{"jsonrpc":"2.0","id":${id},"result":${deep}}`));
      }
      case "bad-json":
        write("Content-Length: 5\r\n\r\n{oops");
        return answer(id, good);
      case "wrong-id":
        return answer(id + 1_000, good);
      case "text-id":
        return answer(String(id), good);
      case "huge-length":
        return write("Content-Length: 999999999999999\r\n\r\n{");
      case "negative-length":
        return write("Content-Length: -5\r\n\r\n{}");
      case "half-frame-and-end":
        return process.stdout.write("Content-Length: 500\r\n\r\n{", () => process.exit(0));
      case "half-frame":
        return write("Content-Length: 500\r\n\r\n{");
      case "answers-twice":
        answer(id, good);
        return answer(id, { contents: "another" });
      case "unknown-request":
        return send({ id: "u", method: "toy/unknown", params: {} });
      case "odd-answer":
        return answer(id, [7, { contents: [[null]] }]);
      case "odd-error":
        return send({ id, error: { code: "x", message: { deep: true } } });
      case "not-utf8":
        return write(
          frame(
            Buffer.concat([
              Buffer.from(`{"jsonrpc":"2.0","id":${id},"result":{"contents":"`),
              Buffer.from([0xff, 0xfe]),
              Buffer.from('"}}'),
            ]),
          ),
        );
      case "control-characters":
        return answer(id, { contents: "\u001b[31mred\u202e" });
      case "control-language":
        return answer(id, { contents: { language: "\u001b[2J\nx", value: "code" } });
      case "endless-hover":
        return answer(id, { contents: Array.from({ length: 20 }, () => "x".repeat(10_000)) });
      // Tries to write files and to reach a port.
      case "reaches-out": {
        const tryWrite = (path) => {
          try {
            mkdirSync(dirname(path), { recursive: true });
            writeFileSync(path, "here");
          } catch {
            // The test looks for the file.
          }
        };
        for (const path of [...options.paths, `${process.env.XDG_CACHE_HOME}/toy/index`]) tryWrite(path);
        const finish = (result) => answer(id, { contents: `${result} ${process.env.XDG_CACHE_HOME}` });
        return connect(options.port, "127.0.0.1", () => finish("connected")).on("error", () => finish("alone"));
      }
      case "too-many-settings":
        return send({
          id: "u",
          method: "workspace/configuration",
          params: { items: Array.from({ length: 100_000 }, () => ({})) },
        });
      case "unasked-edit":
        return send({
          id: "e",
          method: "workspace/applyEdit",
          params: { edit: { changes: { [params.textDocument.uri]: [{ range: range(0, 0, 1), newText: "X" }] } } },
        });
      case "tiny-pieces": {
        const bytes = frame(JSON.stringify({ jsonrpc: "2.0", id, result: good }));
        const next = (index) =>
          index < bytes.length && process.stdout.write(bytes.subarray(index, index + 1), () => next(index + 1));
        return next(0);
      }
      default:
        return answer(id, good);
    }
  },
  "textDocument/definition"(id, params) {
    const { uri } = params.textDocument;
    switch (behaviour) {
      case "negative-positions":
        return answer(id, [{ uri, range: range(-1, -1, -1) }]);
      case "outside-of-file":
        return answer(id, { uri, range: range(90_000, 90_000, 90_001) });
      case "not-a-file":
        return answer(id, [
          { uri: "https://example.com/a", range: range(0, 0, 1) },
          { uri: "file://host%2f/x", range: range(0, 0, 1) },
        ]);
      case "key-file":
        return answer(id, { uri: uri.replace(/[^/]*$/, "agent/auth.json"), range: range(0, 0, 1) });
      case "secret-file":
        return answer(id, { uri: "file:///etc/passwd", range: range(0, 0, 1) });
      default:
        return answer(id, [
          { targetUri: uri, targetRange: range(0, 0, 1), targetSelectionRange: find(wordAt(params))[0].range },
        ]);
    }
  },
  "textDocument/references"(id, params) {
    if (behaviour === "loading" && (asked += 1) === 3) notify("$/progress", { token: "load", value: { kind: "end" } });
    answer(id, behaviour === "loading" && asked < 3 ? [] : find(wordAt(params)));
  },
  "textDocument/documentSymbol"(id, { textDocument: { uri } }) {
    const symbols = texts
      .get(uri)
      .text.split("\n")
      .flatMap((content, line) => {
        const match = /def (\w+)/.exec(content);
        const own = range(line, 4, 4 + (match?.[1].length ?? 0));
        return match ? [{ name: match[1], kind: 12, range: own, selectionRange: own }] : [];
      });
    if (behaviour !== "deep-symbols") return answer(id, symbols);
    let child = [];
    for (let depth = 0; depth < 500; depth++)
      child = [{ name: `s${depth}`, kind: 99, range: range(0, 0, 1), selectionRange: range(0, 0, 1), children: child }];
    answer(id, child);
  },
  "workspace/symbol": (id, { query }) =>
    answer(
      id,
      find(query).map((location) => ({ name: query, kind: 12, location })),
    ),
  "textDocument/rename"(id, params) {
    const { uri } = params.textDocument;
    const edits = { [uri]: [{ range: range(0, 0, 3), newText: "a" }] };
    switch (behaviour) {
      // An answer of the test, in which `$` is the directory of the project.
      case "edit-of-a-file":
        return answer(id, JSON.parse(readFileSync(fileURLToPath(`${root}/edit.json`), "utf8").replaceAll("$", root)));
      case "overlap":
        edits[uri].push({ range: range(0, 1, 4), newText: "b" });
        return answer(id, { changes: edits });
      case "outside-of-workspace":
        return answer(id, { changes: { ...edits, "file:///etc/hosts": edits[uri] } });
      case "dots":
        return answer(id, { changes: { ...edits, [`${uri}/../../../../../../etc/hosts`]: edits[uri] } });
      case "edit-of-no-file":
        return answer(id, { changes: { ...edits, "untitled:x": edits[uri] } });
      case "edit-outside-of-file":
        return answer(id, { changes: { [uri]: [{ range: range(5_000, 0, 1), newText: "a" }] } });
      case "reversed-edit":
        return answer(id, {
          changes: {
            [uri]: [{ range: { start: { line: 2, character: 0 }, end: { line: 0, character: 0 } }, newText: "a" }],
          },
        });
      case "old-version":
        return answer(id, { documentChanges: [{ textDocument: { uri, version: 0 }, edits: edits[uri] }] });
      case "odd-edit":
        return answer(id, { documentChanges: [{ kind: "format-disk", uri }] });
      default: {
        const changes = {};
        for (const place of find(wordAt(params)))
          (changes[place.uri] ??= []).push({ range: place.range, newText: params.newName });
        return answer(id, { changes });
      }
    }
  },
  "workspace/willRenameFiles"(id, { files: [{ oldUri, newUri }] }) {
    const name = (uri) => uri.slice(uri.lastIndexOf("/") + 1);
    const changes = {};
    for (const [uri, { text }] of texts)
      for (const [line, content] of text.split("\n").entries()) {
        const index = content.indexOf(name(oldUri));
        if (index >= 0)
          (changes[uri] ??= []).push({ range: range(line, index, index + name(oldUri).length), newText: name(newUri) });
      }
    answer(id, { changes });
  },
  "textDocument/codeAction": (id, { textDocument: { uri }, context }) =>
    answer(id, [
      ...context.diagnostics.map(({ range: place }) => ({
        title: "Make it good",
        kind: "quickfix",
        data: { uri, place },
      })),
      { title: "Run the fixer", command: { title: "Fix", command: "fix", arguments: [uri] } },
    ]),
  "codeAction/resolve": (id, { title, kind, data: { uri, place } }) =>
    answer(id, { title, kind, edit: { changes: { [uri]: [{ range: place, newText: "good" }] } } }),
  "workspace/executeCommand"(id, { arguments: [uri] }) {
    send({
      id: `apply ${id}`,
      method: "workspace/applyEdit",
      params: { edit: { changes: { [uri]: [{ range: range(0, 0, 0), newText: "fixed " }] } } },
    });
    pendingCommand = id;
  },
  "textDocument/formatting"(id, { textDocument: { uri } }) {
    const lines = texts.get(uri).text.split("\n");
    answer(
      id,
      lines.flatMap((content, line) => {
        const end = /\s+$/.exec(content);
        return end ? [{ range: range(line, end.index, content.length), newText: "" }] : [];
      }),
    );
  },
  "toy/late"(id) {
    late();
    answer(id, null);
  },
  shutdown(id) {
    if (behaviour !== "ignores-shutdown") answer(id, null);
  },
  exit() {
    if (behaviour !== "ignores-shutdown") process.exit(0);
  },
};
let asked = 0;
let pendingCommand;
let lastSettings;
const showSettings = (id) => answer(id, { contents: JSON.stringify(lastSettings) });

function take(message) {
  const { id, method, params } = message;
  if (method === undefined) {
    // Answers of the client are repeated, so that tests see them.
    if (id === "s") {
      lastSettings = message.result;
      if (pendingHover !== undefined) showSettings(pendingHover);
    } else if (id === "u") answer(pendingHover, { contents: `error ${message.error?.code}` });
    else if (id === "e") answer(pendingHover, { contents: JSON.stringify(message.result) });
    else if (String(id).startsWith("apply")) answer(pendingCommand, null);
    return;
  }
  if (method === "textDocument/hover") pendingHover = id;
  // The settings may come after the question.
  if (method === "textDocument/hover" && behaviour === "wants-settings") return lastSettings && showSettings(id);
  if (handlers[method]) handlers[method](id, params);
  else if (id !== undefined) send({ id, error: { code: -32601, message: `no ${method}` } });
}
let pendingHover;

let input = Buffer.alloc(0);
process.stdin.on("data", (chunk) => {
  input = Buffer.concat([input, chunk]);
  for (;;) {
    const end = input.indexOf("\r\n\r\n");
    if (end < 0) return;
    const length = Number(/Content-Length: (\d+)/.exec(input.subarray(0, end).toString())[1]);
    if (input.length < end + 4 + length) return;
    const body = input.subarray(end + 4, end + 4 + length).toString();
    input = input.subarray(end + 4 + length);
    take(JSON.parse(body));
  }
});
process.stdin.on("end", () => behaviour !== "ignores-shutdown" && process.exit(0));
if (behaviour === "ignores-shutdown") setInterval(() => {}, 1_000);
