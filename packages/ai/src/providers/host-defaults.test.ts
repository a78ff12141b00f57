import { describe, expect, test } from "vitest";
import { getHostDefaults } from "./host-defaults.ts";

describe("a known host has default flags", () => {
  test.each([
    ["https://api.openai.com/v1", { supportsPromptCacheKey: true }],
    ["https://api.deepseek.com", { thinkingFormat: "deepseek", maxTokensField: "max_tokens" }],
    ["https://API.DeepSeek.com/v1", { thinkingFormat: "deepseek" }],
    ["https://api.x.ai/v1", { supportsReasoningEffort: false }],
    ["https://api.mistral.ai/v1", { toolCallIdFormat: "mistral", requiresThinkingAsText: true }],
    ["https://api.z.ai/api/paas/v4", { thinkingFormat: "zai" }],
    ["https://open.bigmodel.cn/api/paas/v4", { thinkingFormat: "zai" }],
    ["https://openrouter.ai/api/v1", { thinkingFormat: "openrouter", sessionAffinityFormat: "openrouter" }],
    ["https://api.together.xyz/v1", { thinkingFormat: "together" }],
    ["https://api.groq.com/openai/v1", { supportsLongCacheRetention: false }],
    ["https://api.cerebras.ai/v1", { supportsStrictMode: false }],
    ["https://api.fireworks.ai/inference/v1", { sendSessionAffinityHeaders: true }],
    ["https://dashscope-intl.aliyuncs.com/compatible-mode/v1", { thinkingFormat: "qwen" }],
    ["https://api.moonshot.cn/v1", { thinkingFormat: "deepseek", supportsStrictMode: false }],
    ["https://integrate.api.nvidia.com/v1", { maxTokensField: "max_tokens" }],
    ["https://router.huggingface.co/v1", { supportsDeveloperRole: false }],
    ["https://api.cloudflare.com/client/v4/accounts/{ACCOUNT}/ai/v1", { sendSessionAffinityHeaders: true }],
    ["https://gateway.ai.cloudflare.com/v1/{A}/{B}/compat", { supportsReasoningEffort: false }],
  ])("%s", (baseUrl, expected) => {
    expect(getHostDefaults(baseUrl)).toMatchObject(expected);
  });
});

test.each([
  ["https://api.openai.com/v1", undefined],
  ["https://api.cerebras.ai/v1", undefined],
  ["https://dashscope-intl.aliyuncs.com/compatible-mode/v1", undefined],
  ["https://router.huggingface.co/v1", "max_tokens"],
  ["https://api.cloudflare.com/client/v4/accounts/{ACCOUNT}/ai/v1", "max_tokens"],
  ["https://api.mistral.ai/v1", "max_tokens"],
  ["http://localhost:11434/v1", "max_tokens"],
  // Not known: the name of OpenAI's documentation, unless the model's flags say otherwise.
  ["https://models.example/v1", undefined],
])("the limit of an answer has at %s the name that its documentation gives", (baseUrl, field) => {
  expect(getHostDefaults(baseUrl).maxTokensField).toBe(field);
});

const local = { supportsStore: false, supportsDeveloperRole: false, maxTokensField: "max_tokens" };

test.each([
  "http://localhost:8000/v1",
  "http://127.0.0.1:8080",
  "http://[::1]:8080/v1",
  "http://192.168.1.20:1234/v1",
  "http://172.20.0.3/v1",
  "http://ollama:11434/v1",
  "http://box.local/v1",
  "http://gpu.example.com:11434/v1",
])("%s is a local server", (baseUrl) => {
  expect(getHostDefaults(baseUrl)).toMatchObject(local);
});

test.each([
  "https://models.example/v1",
  "https://models.example/proxy/api.deepseek.com/v1",
  "https://models.example/v1?via=openrouter.ai",
  "https://api.deepseek.com.models.example/v1",
  "https://notdeepseek.com/v1",
  "https://172.50.0.3/v1",
  "https://{HOST}/v1",
  "not a URL",
  "",
])("%j has no default flags", (baseUrl) => {
  expect(getHostDefaults(baseUrl)).toEqual({});
});
