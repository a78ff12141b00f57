/** Papers of arXiv, and questions of Stack Overflow with their answers. */
import { asRecord, isRecord } from "@tau/ai/internal";
import { htmlToMarkdown } from "../markdown/to-markdown.ts";
import { readElements } from "../markdown/open-elements.ts";
import { joinParts, listFacts, type SiteReader } from "./site.ts";

/** The abstract; the paper itself is a PDF. */
export const readArxiv: SiteReader = (url) => {
  if (!/^(?:www\.)?arxiv\.org$/.test(url.hostname)) return undefined;
  const id = /^\/abs\/((?:[a-z-]+(?:\.[A-Z]{2})?\/\d{7}|\d{4}\.\d{4,5})(?:v\d+)?)\/?$/.exec(url.pathname)?.[1];
  if (id === undefined) return undefined;
  return {
    urls: [`https://export.arxiv.org/api/query?id_list=${id}`],
    read([body = ""]) {
      const fields = readEntry(body);
      const get = (name: string): string => (fields.get(name) ?? []).join(", ");
      if (get("title") === "" || get("summary") === "") throw new TypeError("There is no entry.");
      const facts = listFacts({ authors: get("name"), published: get("published"), updated: get("updated") });
      const paper = `The paper: https://arxiv.org/pdf/${id}, as a page: https://arxiv.org/html/${id}`;
      return { title: get("title"), text: joinParts([`# ${get("title")}`, facts, get("summary"), paper]) };
    },
  };
};

/** The texts of the elements of the first entry, by their names. */
function readEntry(body: string): Map<string, string[]> {
  const fields = new Map<string, string[]>();
  const open: string[] = [];
  let isInEntry = false;
  readElements<number>(body, {
    open({ name, isVoid }) {
      if (name === "entry") isInEntry = true;
      if (isInEntry && !isVoid) fields.set(name, [...(fields.get(name) ?? []), ""]);
      return open.push(name);
    },
    close({ name }, depth) {
      open.length = depth - 1;
      if (name === "entry") isInEntry = false;
    },
    text(text) {
      const texts = isInEntry ? fields.get(open.at(-1) ?? "") : undefined;
      if (texts) texts[texts.length - 1] += text;
    },
  });
  return new Map(
    [...fields].map(([name, texts]) => [
      name,
      texts.map((text) => text.replaceAll(/\s+/g, " ").trim()).filter(Boolean),
    ]),
  );
}

const exchange = "https://api.stackexchange.com/2.3/questions";

export const readStackOverflow: SiteReader = (url) => {
  if (url.hostname !== "stackoverflow.com") return undefined;
  const id = /^\/(?:questions|q)\/(\d+)(?:\/|$)/.exec(url.pathname)?.[1];
  if (id === undefined) return undefined;
  return {
    urls: [
      `${exchange}/${id}?site=stackoverflow&filter=withbody`,
      `${exchange}/${id}/answers?site=stackoverflow&filter=withbody&order=desc&sort=votes`,
    ],
    read([questions = "", answers = ""]) {
      const [question] = listItems(questions);
      if (!question) throw new TypeError("There is no question.");
      const title = toMarkdown(question["title"], url);
      const parts = listItems(answers).map(
        (answer) =>
          `## Answer, ${String(answer["score"])} votes${answer["is_accepted"] === true ? ", accepted" : ""}\n\n${toMarkdown(answer["body"], url)}`,
      );
      const tags = Array.isArray(question["tags"]) ? question["tags"].join(", ") : "";
      const facts = listFacts({ votes: question["score"], tags });
      return { title, text: joinParts([`# ${title}`, facts, toMarkdown(question["body"], url), ...parts]) };
    },
  };
};

function listItems(body: string): Record<string, unknown>[] {
  const { items } = asRecord(JSON.parse(body));
  return Array.isArray(items) ? items.filter(isRecord) : [];
}

const toMarkdown = (html: unknown, { href }: URL): string =>
  typeof html === "string" ? htmlToMarkdown(html, href).markdown : "";
