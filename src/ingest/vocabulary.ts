/**
 * What vendors call the fields of a lead. Names are compared normalised: lower case, letters and digits alone. The
 * order is the order of preference: where several columns hold one field, each row takes the first that has a value.
 */

import type { LeadField } from "../contract/lead.ts";
import { namesOf } from "../contract/names.ts";

/** What goes into a field of a lead: the halves of its name, whether its state is one of the US, when its clocks show a time. */
export const ingredients = ["first_name", "last_name", "country", "time_zone"] as const;

/** A field of a lead, or what goes into one. */
export type Target = LeadField | (typeof ingredients)[number];

/**
 * Normalises a name for comparing to letters and digits of any script: `Personal E-Mails` and `PERSONAL_EMAILS` are
 * one.
 */
export function normalizeName(name: string): string {
  return name
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, "");
}

/** Every way to begin with one of some words, or none, and to end with one of others. */
function combine(beginnings: string, endings: string): string[] {
  return words(endings).flatMap((ending) =>
    words(beginnings).map((beginning) => (beginning + ending).replace("_", "")),
  );
}

/** The words of a text; `_` stands for nothing at all. */
function words(text: string): string[] {
  return text.split(" ");
}

/** Whose home it is that a city or state belongs to. */
const ofHome = "_ personal home address residential residence mailing location current";

/** What every field is called, the preferred names first. */
const aliases: Record<Target, readonly string[]> = {
  id: words("id eventid"),
  identified_at: [
    ...combine("identified identification", "at on date time timestamp"),
    ...combine(
      "date time timestamp",
      "identified captured resolved matched detected recorded occurred visited viewed seen ofvisit",
    ),
    ...combine("visitor capture resolution match detection occurrence", "date time datetime timestamp"),
    ...combine("event visit pageview page_view hit session activity", "timestamp time datetime ts date at"),
    ...words("timestamp datetime ts time epoch unixtime unixtimestamp visited visitedat visitedon viewedat"),
    ...combine(
      "last mostrecent latest",
      "seenat seen seenon seendate seentime visitedat visited visit visitat visitdate",
    ),
    ...combine(
      "last mostrecent latest",
      "visittime activity activityat activitydate active activeat activedate eventat eventdate sessionat sessiondate",
    ),
    ...combine("seen clicked occurred captured resolved matched detected recorded", "at on _ date time"),
    ...combine("_ session visit", "startedat started start starttime starttimestamp begin beganat"),
    ...combine("_ session visit event", "created createdat createdon createddate createdtime"),
    ...words("creationdate datecreated date day"),
    ...combine("first", "seenat seen seenon seendate visitedat visited visit visitat visitdate"),
  ],
  pixel_id: words("pixelid pixel superpixelid superpixel trackingpixelid trackingpixel sitepixelid pixeluuid"),
  name: words("name fullname personname displayname"),
  first_name: words("firstname givenname fname forename first"),
  last_name: words("lastname surname familyname lname last"),
  email: combine(
    "_ personal best primary main home business work professional corporate other secondary alternate additional all",
    "email",
  ).concat(words("emailpersonal emailbusiness emailwork mail")),
  verified_email: [
    ...combine("_ personal", "verifiedemail"),
    "verifiedpersonalemail",
    ...combine("business work professional corporate", "verifiedemail"),
    ...combine("verified", "businessemail workemail professionalemail corporateemail"),
    ...words("deepverifiedemail validatedemail validemail confirmedemail"),
  ],
  phone: [
    ...words("phone bestphone primaryphone mainphone mobile direct directnumber directphone directdial directline"),
    ...combine("personal home", "mobile phone number"),
    ...words("contactnumber tel phonemobile phonedirect phonework"),
    ...words("allmobile alllandline landline allphone"),
    ...combine("work business office corporate professional", "directphone directdial direct mobile phone"),
    ...words("otherphone secondaryphone"),
    ...combine("skiptrace", "wirelessnumber wirelessphone mobile phone landlinenumber landline"),
  ],
  company: [
    ...words("company companyname currentcompany currentcompanyname"),
    ...words("employer employername currentemployer organization organizationname business businessname"),
    ...words("professionalcompany professionalcompanyname jobcompany jobcompanyname workplace firm"),
  ],
  city: [...combine(ofHome, "city town cityname towncity citytown"), "skiptracecity"],
  state: [
    ...combine(ofHome, "state statecode stateabbr stateabbreviation stateregion stateprovince statename"),
    ...combine(ofHome, "region regioncode regionname province"),
    "skiptracestate",
  ],
  country: combine(ofHome, "country countrycode countryname countryiso countryisocode countryregion nation"),
  time_zone: words("timezone tz timezonename timezoneid timezoneoffset utcoffset"),
  gender: words("gender sex"),
  age_range: words("agerange agegroup agebracket ageband agebucket age"),
  income_range: [
    ...words("incomerange incomebracket incomelevel incomeband householdincomerange householdincome"),
    ...words("estimatedhouseholdincome estimatedincome annualincome income"),
  ],
  net_worth: words("networth networthrange householdnetworth estimatednetworth networthband"),
  marital_status: words("maritalstatus marital married ismarried marriagestatus relationshipstatus"),
  homeowner: words("homeowner ishomeowner homeownerstatus homeownership homeownerrenter ownshome ownorrent ownrent"),
  children: words("children haschildren numberofchildren childrencount presenceofchildren childreninhousehold haskids"),
  page_url: [
    ...words("pageurl url fullurl page landingpageurl landingpage landingurl capturedurl captureduri"),
    ...combine("last current visited visit viewed mostrecent recent event entry", "url page pageurl"),
    ...words("lastvisitedurl lastvisitedpage pages pageurls urls visitedpages pagesvisited pagesviewed pagevisits"),
    ...words("pageviewed pagevisited pagelocation uri href"),
    ...combine("first initial", "url page pageurl"),
  ],
  referrer: [
    ...combine("_ http document page session", "referrer referer referrerurl refererurl"),
    ...words("referringurl referringpage referralurl"),
    ...combine("mostrecent last latest first initial original", "referrer referer referrerurl refererurl"),
  ],
  traffic_source: [
    ...words("trafficsource source utmsource leadsource visitsource sessionsource trafficchannel channel"),
    ...combine("mostrecent last latest first initial original", "source trafficsource utmsource"),
  ],
};

/** Words before a name that only say that the field is the visitor's. */
const ofVisitor =
  /^(?:visitor|contact|person|prospect|individual|lead|customer|subscriber|profile|identified|resolved)/;

/** Fields of the person, before whose names those words may stand: a contact's URL is no page, its id no visit. */
const personal: ReadonlySet<Target> = new Set<Target>([
  ...([
    "name",
    "first_name",
    "last_name",
    "email",
    "verified_email",
    "phone",
    "company",
    "city",
    "state",
    "country",
  ] as const),
  ...(["gender", "age_range", "income_range", "net_worth", "marital_status", "homeowner", "children"] as const),
]);

export interface Meaning {
  readonly target: Target;
  /** Among the columns of one field, the lower is preferred. */
  readonly rank: number;
}

/** The first mention of a name counts, but a map keeps the last. So the list is reversed. */
const meanings: ReadonlyMap<string, Meaning> = new Map(
  namesOf(aliases)
    .flatMap((target) => aliases[target].map((name, rank) => [name, { target, rank }] as const))
    .toReversed(),
);

/** What a normalised name means; null for an unknown name. */
export function meaningOf(normalized: string): Meaning | null {
  const name = canonical(normalized);
  // A second or third of its kind, not a bracket such as "Age 18-24".
  const numbered = name.replace(/(?<!\d)(?:[1-9]|10)$/, "");
  return (
    meanings.get(name) ??
    lessPreferred(meanings.get(numbered), Number(name.slice(numbered.length)) / 1000) ??
    meanings.get(withoutPlural(name)) ??
    withoutOwner(name)
  );
}

/** Writes the variants of a word in one way, so that the lists above need only that one. */
function canonical(normalized: string): string {
  return normalized
    .replaceAll(/emails?(?:addresse?s?)?/g, "email")
    .replaceAll(/(?:tele|cell)?phone(?:no|nr|numbers?)?s?/g, (word) => (word.startsWith("cell") ? "mobile" : "phone"))
    .replaceAll(/mobile(?:phone|number|no)?s?/g, "mobile")
    .replace(/^cell(?:number)?$/, "mobile")
    .replace(/landlines$/, "landline")
    .replaceAll("organisation", "organization")
    .replace(/(timestamp|time|at|date)(?:utc|gmt|ms|millis|iso|unix|epoch|seconds)$/, "$1");
}

function withoutPlural(name: string): string {
  return name.length > 4 && name.endsWith("s") ? name.slice(0, -1) : name;
}

function withoutOwner(name: string): Meaning | null {
  const rest = name.replace(ofVisitor, "");
  if (rest === name || rest === "") return null;
  const meaning = meanings.get(rest) ?? meanings.get(withoutPlural(rest)) ?? withoutOwner(rest);
  return meaning !== null && personal.has(meaning.target) ? meaning : null;
}

function lessPreferred(meaning: Meaning | undefined, by: number): Meaning | undefined {
  return meaning && { ...meaning, rank: meaning.rank + by };
}
