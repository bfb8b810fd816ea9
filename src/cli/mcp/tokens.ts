/** How much of a model's memory a text takes. */
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";

/** Below the 4,000 that are promised: other models count somewhat otherwise. */
export const mostTokens = 3_500;

/** Tokens of a text as o200k counts them; what looks like a sign of a model's own is a text as any other. */
export function tokensOf(text: string): number {
  return countTokens(text, { disallowedSpecial: new Set<string>() });
}
