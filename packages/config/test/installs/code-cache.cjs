/**
 * Keeps the compiled code of a program's modules in a file, because to compile them takes a large part of the time of a program
 * that does little. Node 20 has nothing for that.
 */
const { readFileSync, renameSync, writeFileSync } = require("node:fs");
const Module = require("node:module");
const { dirname, sep } = require("node:path");
const { Script } = require("node:vm");

/** A file that cannot be read, or is of another version of Node, costs the time that it would have saved. */
function readCache(file) {
  try {
    const data = readFileSync(file);
    const codeAt = 4 + data.readUInt32LE(0);
    const places = JSON.parse(data.toString("utf8", 4, codeAt));
    return new Map(places.map(([name, at, length]) => [name, data.subarray(codeAt + at, codeAt + at + length)]));
  } catch {
    return new Map();
  }
}

/** Replaces the file at once: several processes may write it. */
function writeCache(file, codes) {
  let at = 0;
  const places = [...codes].map(([name, { length }]) => [name, (at += length) - length, length]);
  const head = Buffer.from(JSON.stringify(places));
  const size = Buffer.alloc(4);
  size.writeUInt32LE(head.length);
  try {
    writeFileSync(`${file}.${process.pid}`, Buffer.concat([size, head, ...codes.values()]));
    renameSync(`${file}.${process.pid}`, file);
  } catch {
    // It is only a cache.
  }
}

/* oxlint-disable no-underscore-dangle -- Node has no other names for what loads modules */
/** Takes the code of the modules below a directory from a file, and adds what is missing there when the process ends. */
exports.useCodeCache = (file, directory) => {
  const codes = readCache(file);
  const fresh = new Map();
  const compile = Module.prototype._compile;
  Module.prototype._compile = function (content, filename, ...rest) {
    if (!filename.startsWith(directory + sep) || content.includes("import(")) {
      return compile.call(this, content, filename, ...rest);
    }
    const cachedData = codes.get(filename);
    const script = new Script(Module.wrap(content.replace(/^#!/, "//")), { filename, cachedData });
    if (!cachedData || script.cachedDataRejected) fresh.set(filename, script);
    const require = (id) => this.require(id);
    require.resolve = (id, options) => Module._resolveFilename(id, this, false, options);
    require.main = process.mainModule;
    require.extensions = Module._extensions;
    require.cache = Module._cache;
    return script.runInThisContext().call(this.exports, this.exports, require, this, filename, dirname(filename));
  };
  process.once("exit", () => {
    if (fresh.size === 0) return;
    for (const [name, script] of fresh) codes.set(name, script.createCachedData());
    writeCache(file, codes);
  });
};
