/** Finds what identifies the person of a lead in a text, whatever its case, accents, separators, and order. */
import type { Lead } from "../../client/src/leadfile.ts";

type Person = Partial<Pick<Lead, "name" | "email" | "verified_email" | "phone">>;

/** Words of a name that name nobody. As parts of the name they would hide a state such as MD. */
const titles = new Set(
  "mr mrs ms miss mx dr prof sir dame rev hon jr sr ii iii iv md phd esq cpa mba dds rn van von der de la del".split(
    " ",
  ),
);
/** Mailboxes of no person. As parts of the person they would hide pages such as /contact. */
const roles = new Set(
  "info contact sales hello support office admin team mail email shop store service help billing marketing news hr jobs press web webmaster postmaster noreply orders accounts".split(
    " ",
  ),
);
/** Longer words of a name are no words. */
const maxWordLength = 60;
const maxWords = 8;
/** A shorter word identifies a person only if no other letters adjoin it. */
const minPartLength = 4;

/** Letters that have no accent to remove. */
const plainLetters: Readonly<Record<string, string>> = {
  ß: "ss",
  ø: "o",
  æ: "ae",
  œ: "oe",
  ł: "l",
  đ: "d",
  ð: "d",
  þ: "th",
  ı: "i",
};
/** Spellings of some of them without accents. */
const longForms: Readonly<Record<string, string>> = { ä: "ae", ö: "oe", ü: "ue", å: "aa", ø: "oe" };

/** One letter in lowercase, without accents and without what nobody sees. */
function plain(letter: string): string {
  const base = letter
    .normalize("NFKD")
    .replace(/[\p{M}\p{Cf}]/gu, "")
    .toLowerCase();
  return base.replace(/[ßøæœłđðþı]/g, (special) => plainLetters[special] ?? special);
}

/** Replaces each match of a pattern in lowercase without accents, but keeps the rest of the text as it is. */
export function replaceIn(text: string, pattern: RegExp, mask: (found: string) => string): string {
  let folded = "";
  /** The index in the text of each code unit of the folded one, and its end. */
  const places: number[] = [];
  let place = 0;
  for (const letter of text) {
    const units = plain(letter);
    for (let unit = 0; unit < units.length; unit++) places.push(place);
    folded += units;
    place += letter.length;
  }
  places.push(place);
  let shown = "";
  let end = 0;
  for (const { index, 0: whole, 1: found = whole } of folded.matchAll(pattern)) {
    const from = places[index] ?? place;
    const to = places[index + found.length] ?? place;
    // The words behind a separator are matches, too.
    if (to <= end || (from < end && /[^\p{L}\p{N}]/u.test(text.slice(end, to)))) continue;
    shown += from < end ? "" : text.slice(end, from) + mask(found);
    end = to;
  }
  return shown + text.slice(end);
}

/** A pattern for the person of a lead, for `replaceIn`; null if the lead names nobody. Matches, the first group, may overlap. */
export function patternOf({ name, email, verified_email: verified, phone }: Person): RegExp | null {
  const names = wordsOf(name ?? "").filter((word) => !titles.has(plainOf(word)));
  const addresses = [email, verified].flatMap((address) => (address == null ? [] : [address]));
  const mailboxes = addresses.map((address) => (address.split("@", 1)[0] ?? "").replace(/\+.*/, ""));
  const personal = mailboxes.filter((mailbox) => !roles.has(plainOf(mailbox)));
  const parts = personal
    .flatMap((mailbox) => [wordsOf(mailbox).join(""), ...wordsOf(mailbox)])
    .flatMap((word) => [word, word.replace(/\p{N}+$/u, "")]);
  const patterns = [
    ...pairs(names).flatMap(([one, other]) => joined(one, other)),
    ...[...names, ...parts].flatMap(spellings).map(wordPattern),
    ...personal.map((mailbox) => loosely(wordsOf(mailbox).map(plainOf))),
    ...addresses.map((address) => domainPattern(address.split("@")[1] ?? "")),
    ...phonePatterns(phone ?? ""),
  ].filter((pattern) => pattern !== "");
  // A longer alternative first: where two begin alike, the first one that matches wins.
  const unique = [...new Set(patterns)].toSorted((one, other) => other.length - one.length);
  return unique.length === 0 ? null : new RegExp(`(?=(${unique.join("|")}))`, "gu");
}

function wordsOf(text: string): string[] {
  const words: string[] = text.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  return words.filter((word) => word.length <= maxWordLength).slice(0, maxWords);
}

/** Some letters such as ⑴ contain others than letters when they are plain. */
function plainOf(text: string): string {
  return [...text]
    .map(plain)
    .join("")
    .replace(/[^\p{L}\p{N}]/gu, "");
}

/** A word without accents, in the ways in which it may be written: muller and mueller for Müller. */
function spellings(word: string): string[] {
  const composed = word.normalize("NFC").toLowerCase();
  const long = plainOf(composed.replace(/[äöüåø]/g, (letter) => longForms[letter] ?? letter));
  const base = plainOf(word);
  const short = base.replace(/([aou])e/g, "$1");
  return [base, long, ...(short.length >= minPartLength ? [short] : [])];
}

/** A long word is found inside other words as well, such as whitfield in dwhitfield. */
function wordPattern(word: string): string {
  const isLatin = /^[\p{Script=Latin}\p{N}]+$/u.test(word);
  if (word.length >= (isLatin ? minPartLength : 2)) return word;
  return word.length < 2 ? "" : `(?<!\\p{L})${word}(?!\\p{L})`;
}

const pairs = (words: readonly string[]) =>
  words.flatMap((one) => words.filter((other) => other !== one).map((other) => [one, other] as const));

/** Two words of a name in a row, such as liwei or li-wei, and one with the initial of the other, such as wli. */
function joined(one: string, other: string): string[] {
  return spellings(one).flatMap((first) =>
    spellings(other).flatMap((second) => {
      const together = loosely([first, second]);
      const initials = [`${first[0]}[^\\p{L}\\p{N}]?${second}`, `${first}[^\\p{L}\\p{N}]?${second[0]}`];
      return [together, ...initials.map((pattern) => `(?<!\\p{L})(?:${pattern})(?!\\p{L})`)];
    }),
  );
}

/** Words in a row, with any separators; nothing if they are too short to identify anybody. */
function loosely(words: readonly string[]): string {
  return words.join("").length < minPartLength ? "" : words.join("[^\\p{L}\\p{N}]*");
}

/** The domain of an email address, but not as the host of an address: there it names a site. */
function domainPattern(domain: string): string {
  const labels = wordsOf(domain).map(plainOf);
  return labels.length < 2 ? "" : `(?<!://[^/]*)${labels.join("[^\\p{L}\\p{N}]")}`;
}

/** A phone with and without its country code, and without its area code, in whatever groups. */
function phonePatterns(phone: string): string[] {
  const digits = phone.replaceAll(/\D/g, "").slice(0, 20);
  const lengths = [digits.length, 10, 7].filter((length) => length <= digits.length && length >= 7);
  return lengths.map((length) => `(?<!\\d)${[...digits.slice(-length)].join("\\D{0,3}")}(?!\\d)`);
}
