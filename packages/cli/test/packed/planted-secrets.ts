/** Secrets in the formats in which services give them out. Each has its number in it, so no two are the same. */
import { createHash } from "node:crypto";

type Format = (random: (length: number) => string, digits: (length: number) => string) => string;

const formats: Record<string, Format> = {
  anthropic: (random) => `sk-ant-api03-${random(40)}`,
  openai: (random) => `sk-proj-${random(40)}`,
  openrouter: (random) => `sk-or-v1-${random(48)}`,
  google: (random) => `AIza${random(35)}`,
  googleOauth: (random) => `ya29.${random(60)}`,
  groq: (random) => `gsk_${random(48)}`,
  xai: (random) => `xai-${random(60)}`,
  huggingFace: (random) => `hf_${random(34)}`,
  github: (random) => `ghp_${random(36)}`,
  githubFine: (random) => `github_pat_${random(22)}_${random(50)}`,
  gitlab: (random) => `glpat-${random(20)}`,
  awsId: (random) => `AKIA${random(16).toUpperCase()}`,
  awsSecret: (random) => `${random(20)}/${random(10)}+${random(8)}`,
  azure: (random) => `${random(30)}+${random(20)}/${random(34)}==`,
  slack: (random, digits) => `xoxb-${digits(12)}-${random(24)}`,
  slackWebhook: (random) => `https://hooks.slack.example/services/T${random(8)}/B${random(8)}/${random(24)}`,
  stripe: (random) => `sk_live_${random(24)}`,
  npm: (random) => `npm_${random(36)}`,
  telegram: (random, digits) => `${digits(9)}:${random(35)}`,
  jwt: (random) => `eyJhbGciOiJIUzI1NiJ9.${random(40)}.${random(43)}`,
  pem: (random) => `-----BEGIN PRIVATE KEY-----\n${random(64)}\n${random(64)}\n-----END PRIVATE KEY-----`,
  databaseUrl: (random) => `postgres://app:${random(20)}@db.example:5432/app`,
  basicAuth: (random) => `Basic ${Buffer.from(`me:${random(20)}`).toString("base64")}`,
  cookie: (random) => `session=${random(32)}; Path=/; HttpOnly`,
  password: (random) => `correct "horse" ${random(8)} \\staple\\ $${random(4)}% é`,
};

export interface PlantedSecret {
  /** The variable that holds it. */
  name: string;
  value: string;
  format: string;
}

/** `count` of each of the 25 formats. */
export function plantSecrets(prefix: string, count: number): PlantedSecret[] {
  return Object.entries(formats).flatMap(([format, write]) =>
    Array.from({ length: count }, (_, index) => {
      const seed = createHash("sha512").update(`${prefix} ${format} ${index}`).digest("hex");
      const name = `${prefix}_${format.toUpperCase()}_${index}_TOKEN`;
      // A digit first: most patterns want one.
      const value = write(
        (length) => `7${seed.repeat(2)}`.slice(0, length),
        (length) => BigInt(`0x${seed}`).toString().slice(0, length),
      );
      return { name, value, format };
    }),
  );
}

/** The parts of a secret that must not be anywhere: the whole, each of its lines, and what is encoded. */
export function listTraces({ value }: PlantedSecret): string[] {
  const lines = value.split("\n").filter((line) => line.length >= 24 && !line.startsWith("-----"));
  return [
    value,
    ...lines,
    JSON.stringify(value).slice(1, -1),
    encodeURIComponent(value),
    Buffer.from(value).toString("base64"),
  ];
}

/** The secrets of which a trace is in the text. */
export const findSecrets = (text: string, secrets: readonly PlantedSecret[]): string[] =>
  secrets.filter((secret) => listTraces(secret).some((trace) => text.includes(trace))).map(({ name }) => name);
