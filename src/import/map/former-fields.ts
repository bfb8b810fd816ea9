/**
 * The table of names: which column, or which path in JSON, gives which field of a lead. Everything else is not a field.
 * To teach the import another name, add it here and add a payload to test/import/payloads.ts.
 *
 * Names are compared in lowercase, letters and digits alone: `Last Seen At`, `last_seen_at`, and `lastSeenAt` are `lastseenat`.
 */
import { type LeadField, leadFields } from "../../contract/lead.ts";

/** The parts of a name, what tells whether a state is one of the US, and the zone of times without an offset. */
const ingredients = ["first_name", "last_name", "country", "time_zone"] as const;

/** A field of a lead, or what goes into one. */
export type Target = LeadField | (typeof ingredients)[number];

/** All targets, which are also what --map accepts. */
export const targets: readonly Target[] = [...leadFields, ...ingredients];

/** The fields that identify the visitor. */
export const ofPerson: readonly Target[] = ["name", "first_name", "last_name", "email", "verified_email", "phone"];

/** The names of a list; `_` is an empty one. */
const words = (text: string): string[] => text.split(" ").map((word) => (word === "_" ? "" : word));

/** Every way to begin with one word and to end with another. */
const combine = (beginnings: string, endings: string): string[] =>
  words(endings).flatMap((ending) => words(beginnings).map((beginning) => beginning + ending));

/**
 * The meaning of the parents of a value. A parent that is not in this list belongs to something else (`owner`, `avatar`,
 * `created_by`), and no value under it is a field. A plural means the same.
 */
export const parents = {
  /** Transparent, as if it were not there. */
  wrapper: words("data payload body record result item node _source attributes properties fields lead"),
  /** The person: any field of a person, and a page or a time by a name that says so. */
  visitor: [
    ...words(
      "visitor person people contact identity identities individual profile user customer prospect subscriber consumer",
    ),
    ...words("resident traits resolution demographics personal professional contactinfo skiptrace"),
  ],
  /** Its `name`; its city, state, and country only in a record that names no person. */
  company: words("company companies organization employer business businesses"),
  /** City, state, and country. */
  location: words("location address addresses geo home"),
  /** Page, referrer, traffic source, pixel, and time. */
  visit: words("visit visits pagevisits session page pageview context event attribution utm"),
} satisfies Record<string, readonly string[]>;

/** The kind of the parent of a value, which decides the fields that the value can give. */
export type ParentKind = keyof typeof parents;

/** Further names of a list of records, or of an object around it. */
export const pages = words("results rows list entries hits edges objects response leads values");

/** The one wrapper that a flat name may begin with: `Lead Email` is an email, but `Item Name` is not a person's name. */
export const flatWrapper = "lead";

/**
 * Names of the creation time of a record. In a record about a person without visit data, it is not the time of a visit.
 */
export const creationNames: ReadonlySet<string> = new Set(
  words("created createdat createdon createddate createdtime createdate creationdate datecreated"),
);

/** Names that a field has under the visitor's parents only if they are spelled out: a bare `url` there is any link. */
export const bareNames: ReadonlySet<string> = new Set([
  ...words(
    "url uri href link page pages source channel pixel timestamp datetime ts time at date day epoch unixtime unixtimestamp",
  ),
  ...words("clock hour timeofday hourofday localdate localtime occurred occurredat occurredon recordedat detectedat"),
  ...words("started startedat startdate start starttime starttimestamp begin beganat"),
  ...creationNames,
]);

/** Names that look like fields but are not: the location of the employer, and people found by skip tracing. */
export const notKept: ReadonlySet<string> = new Set([
  ...combine("professional", "city state country region"),
  "skiptracename",
]);

/** HappierLeads gives the state of its visitors as that of the company: in a record with its list of visits it is theirs. */
export const visitListName = "pagevisits";

/**
 * In an object that is named after a field, or in a list of them, the value has this name, `value`, or another name of the
 * field: `emails: [{ address }]`, `state: { code }`, `gender: { value }`, `phones: [{ phone_number }]`.
 */
export const valueNames: { readonly [Field in Target]?: readonly string[] } = {
  email: words("address"),
  verified_email: words("address email"),
  phone: words("number"),
  city: words("name"),
  state: words("code name"),
  country: words("code isocode name"),
};

/** Whose home it is that a city or state belongs to. */
const ofHome = "_ personal home address residential residence mailing location current";

/**
 * The names of each field. The order is the order of preference: a record takes the first name that has a value, after
 * the shortest path.
 */
export const aliases: Record<Target, readonly string[]> = {
  id: words("id eventid"),
  identified_at: [
    ...combine("identified identification", "at on date time timestamp"),
    ...combine(
      "date time timestamp day hour",
      "identified captured resolved matched detected recorded occurred visited viewed seen ofvisit ofevent ofactivity",
    ),
    ...combine("visitor capture resolution match detection occurrence", "date time datetime timestamp"),
    ...combine(
      "event visit pageview pageviewed hit session activity landing arrival",
      "timestamp time datetime ts date at hour",
    ),
    ...words("timestamp datetime ts time at epoch unixtime unixtimestamp visited visitedat visitedon viewedat"),
    ...combine(
      "last timelast mostrecent latest",
      "seenat seen seenon seendate seentime visitedat visited visit visitat visitdate",
    ),
    ...combine(
      "last mostrecent latest",
      "visittime activity activityat activitydate activitytime active activeat activedate activetime eventat eventdate " +
        "eventtime sessionat sessiondate sessiontime",
    ),
    ...combine("seen visited clicked occurred captured resolved matched detected recorded", "at on _ date time hour"),
    ...combine("_ session visit", "startedat started start startdate starttime starttimestamp begin beganat"),
    ...combine("_ session visit event", "created createdat createdon createddate createdtime createdate"),
    ...words("creationdate datecreated date day clock hour timeofday hourofday localdate localtime"),
    ...combine(
      "first timefirst",
      "seenat seen seenon seendate seentime visitedat visited visit visitat visitdate visittime",
    ),
  ],
  pixel_id: words("pixelid pixel superpixelid superpixel trackingpixelid trackingpixel sitepixelid pixeluuid"),
  name: words("name fullname personname displayname"),
  first_name: words("firstname givenname fname forename first"),
  last_name: words("lastname surname familyname lname last"),
  email: [
    ...combine(
      "_ personal best primary main home business work professional corporate other secondary alternate additional all",
      "email",
    ),
    ...words("emailpersonal emailbusiness emailwork emailhome emailother mail"),
  ],
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
    ...words("contactnumber tel phonemobile phonedirect phonework phonehome"),
    ...words("allmobile alllandline landline allphone"),
    ...combine("work business office corporate professional", "directphone directdial direct mobile phone"),
    ...words("otherphone secondaryphone"),
    ...combine("skiptrace", "wirelessnumber wirelessphone mobile phone landlinenumber landline"),
  ],
  company: [
    ...words("company companyname companyaccount currentcompany currentcompanyname"),
    ...words("employer employername currentemployer organization organizationname business businessname"),
    ...words("professionalcompany professionalcompanyname jobcompany jobcompanyname workplace firm"),
  ],
  city: [...combine(ofHome, "city town cityname towncity citytown"), "skiptracecity"],
  state: [
    ...combine(ofHome, "state statecode stateabbr stateabbreviation stateregion stateprovince statename"),
    ...combine(ofHome, "stateprovincetextonly region regioncode regionname province"),
    "skiptracestate",
  ],
  country: [
    ...combine(ofHome, "country countrycode countryname countryiso countryisocode countryregion nation"),
    ...words("countrycodeiso countryiso2 countryiso3 countryiso3166 countryalpha2 countryfull countryfullname"),
    ...words("countryofresidence residencecountry primarycountry"),
  ],
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
    ...words("pageurl url fullurl page landingpageurl landingpage landingurl capturedurl captureduri currenturl"),
    ...combine("last current visited visit viewed mostrecent recent event entry", "url page pageurl"),
    ...words("lastvisitedurl lastvisitedpage pages pageurls urls visitedpages pagesvisited pagesviewed pagevisits"),
    ...words("lastpageseen pageviewed pagevisited pagelocation uri href link"),
    ...combine("first initial", "url page pageurl pageseen"),
  ],
  referrer: [
    ...combine("_ http document page session", "referrer referer referrerurl refererurl"),
    ...words("referringurl referringpage referralurl lastreferringsite firstreferringsite"),
    ...combine("mostrecent last latest first initial original", "referrer referer referrerurl refererurl"),
  ],
  traffic_source: [
    ...words("trafficsource source utmsource leadsource visitsource sessionsource trafficchannel channel"),
    ...combine("mostrecent last latest first initial original", "source trafficsource utmsource"),
  ],
};
