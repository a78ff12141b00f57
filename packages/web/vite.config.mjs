import { defineConfig } from "vite";

// What is tested is what is shipped, whatever the environment of the build says.
process.env["NODE_ENV"] = "production";

export default defineConfig({
  root: import.meta.dirname,
  logLevel: "warn",
  resolve: { conditions: ["@tau/source", "browser", "module", "import"] },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "dist",
    emptyOutDir: true,
    target: "es2023",
    // The page's policy allows files of the gateway only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
