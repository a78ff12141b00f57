/** What is used of the highlighter, which has no types of its own. */
declare module "prismjs" {
  export interface Token {
    type: string;
    alias?: string | string[];
    content: string | Token | (string | Token)[];
  }
  export type Grammar = object;
  const Prism: {
    languages: Record<string, Grammar | undefined>;
    tokenize: (text: string, grammar: Grammar) => (string | Token)[];
  };
  export default Prism;
}
declare module "prismjs/components/*";
