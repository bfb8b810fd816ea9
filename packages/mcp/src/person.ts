/** Masks what identifies the person of a lead in a text, whatever its case, accents, separators, and order. */
import type { Lead } from "../../client/src/leadfile.ts";

type Person = Partial<Pick<Lead, "name" | "email" | "verified_email">>;

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
/** The most words of a name that are searched for. With more, nothing of a text is shown. */
const maxWords = 200;
/** The most words of a name whose pairs are searched for, such as danawhitfield. */
const maxPairedWords = 8;
/** No text is searched for more letters in a row than its known shapes have. */
const maxWordLength = 31;
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

/** A word, or several that are joined by signs that names and email addresses have. */
const aPiece = /[\p{L}\p{M}\p{N}\p{Cf}._'’-]+/gu;

/** Returns a function that masks each piece of a text in which the person of a lead is named. */
export function personMask({ name, email, verified_email: verified }: Person): (text: string) => string {
  const names = wordsOf(name ?? "").filter((word) => !titles.has(plainOf(word)));
  if (names.length > maxWords) return () => "…";
  const addresses = [email, verified].flatMap((address) => (address == null ? [] : [address]));
  const mailboxes = addresses.map((address) => (address.split("@", 1)[0] ?? "").replace(/\+.*/, ""));
  const inMailboxes = mailboxes
    .filter((mailbox) => !roles.has(plainOf(mailbox)))
    .flatMap((mailbox) => [wordsOf(mailbox).join(""), ...wordsOf(mailbox)])
    .flatMap((word) => [word, word.replace(/\p{N}+$/u, "")]);
  const words = [...names, ...inMailboxes].flatMap(spellings).filter((word) => word.length > 1);
  const spelled = names.slice(0, maxPairedWords).flatMap(spellings);
  const pairs = spelled.flatMap((one) =>
    spelled.filter((other) => other !== one).map((other) => [one, other] as const),
  );
  const parts = [...words, ...pairs.map((pair) => pair.join(""))].filter(isPart);
  // Such as wli for Li Wei.
  const initials = pairs.flatMap(([one, other]) => [`${one[0]}${other}`, `${one}${other[0]}`]);
  const whole = new Set([...words, ...initials]);
  const domains = addresses.map((address) => wordsOf(address.split("@")[1] ?? "").map(plainOf));
  const joinedDomains = domains.filter((labels) => labels.length > 1).map((labels) => labels.join(""));
  return (text) =>
    text.replace(aPiece, (piece: string, index: number) => {
      const found = [...piece]
        .map(plain)
        .join("")
        .split(/[^\p{L}\p{N}]+/u);
      const joined = found.join("");
      // As the host of an address, the domain of an email address names a site.
      const needles = /:\/\/[^/]*$/.test(text.slice(0, index)) ? parts : [...parts, ...joinedDomains];
      const isNamed =
        needles.some((needle) => joined.includes(needle)) ||
        found.some((word, index) => whole.has(word) || whole.has(word + (found[index + 1] ?? "")));
      return isNamed ? "…" : piece;
    });
}

/** Returns whether a word identifies a person inside other letters as well, such as whitfield in dwhitfield. */
function isPart(word: string): boolean {
  return word.length >= (/^[\p{Script=Latin}\p{N}]+$/u.test(word) ? minPartLength : 2);
}

/** Returns the different words of a text. A word of a text that is longer than 30 letters is never shown. */
function wordsOf(text: string): string[] {
  return [...new Set(text.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [])].map((word) => word.slice(0, maxWordLength));
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
