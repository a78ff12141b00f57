/** Symbols for commands of LaTeX. */

/** "name symbol name symbol …" */
const toTable = (...pairs: string[]): ReadonlyMap<string, string> => {
  const words = pairs.join(" ").split(/\s+/);
  return new Map(
    words.flatMap((name, index): [string, string][] => (index % 2 === 0 ? [[name, words[index + 1] as string]] : [])),
  );
};

/** Letters and signs with no blanks of their own. */
export const signs = toTable(
  "alpha α beta β gamma γ delta δ epsilon ϵ varepsilon ε zeta ζ eta η theta θ vartheta ϑ iota ι kappa κ lambda λ mu μ nu ν",
  "xi ξ omicron ο pi π varpi ϖ rho ρ varrho ϱ sigma σ varsigma ς tau τ upsilon υ phi ϕ varphi φ chi χ psi ψ omega ω",
  "Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Upsilon Υ Phi Φ Psi Ψ Omega Ω",
  "infty ∞ partial ∂ nabla ∇ forall ∀ exists ∃ nexists ∄ emptyset ∅ varnothing ∅ hbar ℏ ell ℓ Re ℜ Im ℑ aleph ℵ wp ℘",
  "imath ı jmath ȷ prime ′ degree ° angle ∠ triangle △ square □ Box □ blacksquare ■ diamond ⋄ star ⋆ bigstar ★ top ⊤ bot ⊥",
  "neg ¬ lnot ¬ surd √ checkmark ✓ dagger † ddagger ‡ S § P ¶ copyright © pounds £ flat ♭ sharp ♯ natural ♮",
  "ldots … dots … dotsc … dotsb ⋯ cdots ⋯ vdots ⋮ ddots ⋱ colon : backslash \\ lbrace { rbrace } lbrack [ rbrack ]",
  "langle ⟨ rangle ⟩ lfloor ⌊ rfloor ⌋ lceil ⌈ rceil ⌉ vert | lvert | rvert | Vert ‖ lVert ‖ rVert ‖ | ‖ { { } }",
  "% % $ $ & & # # _ _ QED ∎ blacktriangle ▲ clubsuit ♣ diamondsuit ♢ heartsuit ♡ spadesuit ♠",
);

/** Signs with a blank on both sides. */
export const relations = toTable(
  "le ≤ leq ≤ leqslant ≤ ge ≥ geq ≥ geqslant ≥ ne ≠ neq ≠ lt < gt > ll ≪ gg ≫ equiv ≡ approx ≈ sim ∼ simeq ≃ cong ≅",
  "propto ∝ asymp ≍ doteq ≐ triangleq ≜ coloneqq ≔ prec ≺ succ ≻ preceq ⪯ succeq ⪰ in ∈ notin ∉ ni ∋ subset ⊂ supset ⊃",
  "subseteq ⊆ supseteq ⊇ subsetneq ⊊ supsetneq ⊋ sqsubseteq ⊑ sqsupseteq ⊒ mid ∣ nmid ∤ parallel ∥ perp ⊥ vdash ⊢ dashv ⊣",
  "models ⊨ vDash ⊨ to → rightarrow → leftarrow ← gets ← leftrightarrow ↔ uparrow ↑ downarrow ↓ Rightarrow ⇒ Leftarrow ⇐",
  "Leftrightarrow ⇔ implies ⟹ impliedby ⟸ iff ⟺ longrightarrow ⟶ longleftarrow ⟵ Longrightarrow ⟹ Longleftarrow ⟸ mapsto ↦",
  "longmapsto ⟼ hookrightarrow ↪ hookleftarrow ↩ rightharpoonup ⇀ rightleftharpoons ⇌ leadsto ⇝ nearrow ↗ searrow ↘",
  "times × cdot · div ÷ pm ± mp ∓ ast ∗ circ ∘ bullet ∙ oplus ⊕ ominus ⊖ otimes ⊗ odot ⊙ cup ∪ cap ∩ uplus ⊎ sqcup ⊔",
  "wedge ∧ land ∧ vee ∨ lor ∨ setminus ∖ bmod mod amalg ⨿ ltimes ⋉ rtimes ⋊ bowtie ⋈ Join ⋈ therefore ∴ because ∵",
);

/** Signs with limits, which are above and below them in a formula of its own. */
export const largeOperators = toTable(
  "sum ∑ prod ∏ coprod ∐ int ∫ iint ∬ iiint ∭ oint ∮ bigcup ⋃ bigcap ⋂ bigoplus ⨁ bigotimes ⨂ bigodot ⨀ bigvee ⋁ bigwedge ⋀",
  "biguplus ⨄ bigsqcup ⨆",
);

const toSet = (names: string): ReadonlySet<string> => new Set(names.split(" "));

/** Names that are written as they are. */
export const functions = toSet(
  "sin cos tan cot sec csc sinh cosh tanh coth arcsin arccos arctan log ln lg exp deg dim hom ker arg mod",
);

/** The functions that have something below them. */
export const functionsWithLimits = toSet("lim limsup liminf max min sup inf argmax argmin Pr det gcd");

/** Marks that are put on a character. */
export const accents = toTable(
  "hat \u0302 widehat \u0302 tilde \u0303 widetilde \u0303 bar \u0305 overline \u0305 vec \u20D7 overrightarrow \u20D7",
  "dot \u0307 ddot \u0308 acute \u0301 grave \u0300 check \u030C breve \u0306 mathring \u030A underline \u0332",
);

/** Commands that only say how what they enclose looks. */
export const fonts = toSet(
  "mathrm mathbf mathit mathsf mathtt mathcal mathscr mathfrak mathnormal boldsymbol bm pmb mathop mathbin mathrel mathord",
);
export const textFonts = toSet("text textbf textit textrm textsf texttt textnormal emph mbox hbox");

export const doubleStruck = toTable("C ℂ H ℍ N ℕ P ℙ Q ℚ R ℝ Z ℤ");

/** Commands that change nothing here. */
export const ignored = toSet(
  "displaystyle textstyle scriptstyle scriptscriptstyle limits nolimits nonumber notag rm bf it sf tt cal mathstrut strut !",
);

/** Before a bracket: as large as the bracket would be without them. */
export const bracketSizes = toSet(
  "big Big bigg Bigg bigl Bigl biggl Biggl bigr Bigr biggr Biggr bigm Bigm biggm Biggm middle",
);

export const blanks: ReadonlyMap<string, string> = new Map([
  [",", " "],
  [":", " "],
  [";", " "],
  [">", " "],
  [" ", " "],
  ["\n", " "],
  ["space", " "],
  ["quad", "  "],
  ["qquad", "    "],
]);

export interface Environment {
  /** "aligned": rows that are aligned at signs. */
  readonly kind: "aligned" | "matrix" | "cases";
  readonly open: string;
  readonly close: string;
  /** Whether its columns are described before its content. */
  readonly hasArgument: boolean;
}

const toEnvironment = (kind: Environment["kind"], open = "", close = "", hasArgument = false): Environment => ({
  kind,
  open,
  close,
  hasArgument,
});

/** The names without a star. */
export const environments: ReadonlyMap<string, Environment> = new Map([
  ["matrix", toEnvironment("matrix")],
  ["smallmatrix", toEnvironment("matrix")],
  ["pmatrix", toEnvironment("matrix", "(", ")")],
  ["bmatrix", toEnvironment("matrix", "[", "]")],
  ["Bmatrix", toEnvironment("matrix", "{", "}")],
  ["vmatrix", toEnvironment("matrix", "|", "|")],
  ["Vmatrix", toEnvironment("matrix", "‖", "‖")],
  ["array", toEnvironment("matrix", "", "", true)],
  ["cases", toEnvironment("cases", "{")],
  ["dcases", toEnvironment("cases", "{")],
  ["rcases", toEnvironment("cases", "", "}")],
  ["aligned", toEnvironment("aligned")],
  ["align", toEnvironment("aligned")],
  ["alignat", toEnvironment("aligned", "", "", true)],
  ["split", toEnvironment("aligned")],
  ["gather", toEnvironment("aligned")],
  ["gathered", toEnvironment("aligned")],
  ["equation", toEnvironment("aligned")],
  ["eqnarray", toEnvironment("aligned")],
]);
