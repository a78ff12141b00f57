/** Types for the part of the highlighter that is used; it has none of its own. */
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
