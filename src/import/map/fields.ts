/**
 * The table of names: the exact names of the fields of a lead, and of the objects that hold them. A name that is not here
 * is no field. To teach the import another name, add it to the list of its field, and a record to test/import/payloads.ts.
 *
 * Names are compared in lowercase, letters and digits alone, without accents: `Prénom` is `prenom`, and `Last Seen At`,
 * `last_seen_at`, and `lastSeenAt` are `lastseenat`. A plural in s or es means the same.
 */
import { type LeadField, leadFields } from "../../contract/lead.ts";

/** The parts of a name, what tells whether a state is one of the US, and the zone of times without an offset. */
const ingredients = ["first_name", "last_name", "country", "time_zone"] as const;

/** A field of a lead, or a value from which one is made. */
export type Target = LeadField | (typeof ingredients)[number];

/** All targets, which are also what --map accepts. */
export const targets: readonly Target[] = [...leadFields, ...ingredients];

/** The fields that name the visitor. */
export const namingFields: ReadonlySet<Target> = new Set([
  "name",
  "first_name",
  "last_name",
  "email",
  "verified_email",
  "phone",
]);

/** The fields that come from the one object that is the person. */
export const personFields: ReadonlySet<Target> = new Set([
  ...namingFields,
  ...(["city", "state", "country", "gender", "age_range", "income_range", "net_worth"] as const),
  ...(["marital_status", "homeowner", "children"] as const),
]);

/** The geographic fields. */
export const placeFields: ReadonlySet<Target> = new Set(["city", "state", "country"]);

/** The fields of a visit. */
export const visitFields: ReadonlySet<Target> = new Set([
  "identified_at",
  "pixel_id",
  "page_url",
  "referrer",
  "traffic_source",
]);

/** The names of a list; `_` is an empty one. */
const words = (text: string): string[] => text.split(" ").map((word) => (word === "_" ? "" : word));

/** Every way to begin with one word and to end with another, in the order of the endings. */
const combine = (beginnings: string, endings: string): string[] =>
  words(endings).flatMap((ending) => words(beginnings).map((beginning) => beginning + ending));

/** The same, in the order of the beginnings. */
const combineInOrder = (beginnings: string, endings: string): string[] =>
  words(beginnings).flatMap((beginning) => words(endings).map((ending) => beginning + ending));

/** A name with the numbers of the second and further columns of its kind. */
const numbered = (name: string): string[] => Array.from({ length: 10 }, (_, index) => `${name}${index + 1}`);

/**
 * The objects that hold fields, by their kind. An object with any other name belongs to something else (`owner`, `avatar`,
 * `created_by`), and no value in it is a field.
 */
export const objects = {
  /** Transparent, as if they were not there. */
  wrapper: words("data payload body record result item node _source attributes properties fields lead"),
  /** The person, in order of likelihood. */
  person: [
    ...words("visitor person people contact identity identities individual profile resolution prospect subscriber"),
    ...words("consumer resident traits userproperties"),
  ],
  /** The person only if the record names no other one; otherwise often a representative. */
  doubtfulPerson: words("customer user"),
  /** Parts of the person. `traits` is one of them in an object of a person. */
  part: words("personal professional demographic contactinfo"),
  /** Their name. Their city and state only in a record that names no person. */
  company: words("company companies organization organisation employer business"),
  /** City, state, and country. */
  place: words("location address geo home"),
  /** Page, referrer, traffic source, pixel, and time. */
  visit: words("visit pagevisit session page pageview event context attribution utm"),
} satisfies Record<string, readonly string[]>;

/** The kind of an object, which decides the fields that it can hold. */
export type ObjectKind = keyof typeof objects;

/** Prefixes of flat names (`visitor_email`) that denote the record itself, unless it has the same field without them. */
export const flatPrefixes: ReadonlySet<string> = new Set(words("visitor contact person prospect lead"));

/** Words for people who are not the visitor. No option is offered for a value of theirs. */
export const representatives: ReadonlySet<string> = new Set([
  ...words("owner owners user users agent agents rep reps representative representatives salesrep salesperson seller"),
  ...words("assigned assignee assignedto createdby updatedby modifiedby manager managers admin sender author operator"),
  ...words("advisor employee employees staff team member members recruiter broker realtor referredby invitedby by"),
  ...words("spouse partner assistant emergency account billing shipping customer customers company business corporate"),
]);

/** Words of IDs and hashes. No option is offered for them. */
export const identifiers: ReadonlySet<string> = new Set(
  words("id ids uuid uuids guid hash hashed sha sha1 sha256 md5 hem token key edid"),
);

/** Names that stand next to the name of an event or of a field of a form, and never next to the bare name of a person. */
export const eventNames: ReadonlySet<string> = new Set(words("event type messageid value values"));

/** Names of a list in a document that is never the list of records. */
export const otherLists: ReadonlySet<string> = new Set(words("included error link warning"));

/** Names for the time at which a record was made. In a record that is itself the person, it is not known to be a visit. */
export const creationNames: ReadonlySet<string> = new Set(
  words("created createdat createdon createddate createdtime createdate creationdate datecreated"),
);

/** Names of the fields of a visit that mean something else in the object of a person: a `url` there is any link. */
export const bareNames: ReadonlySet<string> = new Set([
  ...words("url uri href link page pages source channel pixel timestamp datetime ts time at date day epoch"),
  ...words("unixtime unixtimestamp clock hour timeofday hourofday localdate localtime occurred occurredat occurredon"),
  ...words("recordedat detectedat started startedat startdate start starttime starttimestamp begin beganat"),
  ...words("datum uhrzeit heure fecha hora"),
  ...creationNames,
]);

/** The names that a value has in an object that is named after its field, besides `value` and the names of the field. */
export const valueNames: { readonly [Field in Target]?: readonly string[] } = {
  email: words("address"),
  verified_email: words("address email emailaddress"),
  phone: words("number"),
  city: words("name"),
  state: words("code name"),
  country: words("code isocode name"),
  referrer: words("url href"),
};

/** The parts of a name in an object `name`. */
export const nameParts: ReadonlyMap<string, Target> = new Map([
  ["first", "first_name"],
  ["given", "first_name"],
  ["last", "last_name"],
  ["family", "last_name"],
  ["full", "name"],
]);

/** The prefixes with which a city or a state is that of the person's home. */
const ofHome = "_ personal home address residential residence mailing location current";
const numberNames = "_ number no nr";

/**
 * The names of each field, each name once. Their order is the order of preference: a record takes the first name that has a
 * value, after the shortest path.
 */
export const aliases: Record<Target, readonly string[]> = {
  id: words("id eventid"),
  identified_at: [
    ...combine("identified identification", "at on _ date time timestamp"),
    ...combine("date time", "identified"),
    ...combineInOrder(
      "event visit websitevisit sitevisit webvisit pageview pageviewed hit session activity landing arrival",
      "timestamp time datetime ts date at on hour",
    ),
    ...combine("visitor capture resolution match detection occurrence", "date time datetime timestamp"),
    ...words("timestamp datetime ts time at epoch unixtime unixtimestamp"),
    ...words("timestampms timestampunix timestampiso timestamputc eventtimestampms eventtimems"),
    ...combineInOrder(
      "last mostrecent latest",
      "seenat seen seenon seendate seentime visitedat visited visitedon visit visitat visitdate visittime websitevisit " +
        "websitevisitdate sitevisit sitevisitdate pageview",
    ),
    ...combine("time date when", "lastseen lastvisited lastvisit"),
    ...combineInOrder(
      "last mostrecent latest",
      "activity activityat activitydate activitytime active activeat activedate activetime event eventat eventdate " +
        "eventtime session sessionat sessiondate sessiontime",
    ),
    ...combine("time date when", "lastactive"),
    ...combine("seen visited viewed clicked occurred captured resolved matched detected recorded", "at on _ date time"),
    ...combine("seen visited viewed clicked occurred captured resolved matched detected recorded", "hour timestamp"),
    ...combine(
      "date time datetime timestamp day hour when",
      "seen visited viewed captured resolved matched detected recorded occurred ofvisit ofevent ofactivity",
    ),
    ...combineInOrder("_ session visit", "startedat started start startdate starttime starttimestamp begin beganat"),
    ...words("date day clock hour timeofday hourofday localdate localtime datum uhrzeit heure fecha hora"),
    ...combineInOrder(
      "first",
      "seenat seen seenon seendate seentime visitedat visited visitedon visit visitat visitdate visittime",
    ),
    ...combine("time date when", "firstseen firstvisited firstvisit"),
    ...creationNames,
  ],
  pixel_id: words("pixelid pixel superpixelid superpixel trackingpixelid trackingpixel sitepixelid pixeluuid"),
  name: words("name fullname displayname vollstandigername nomcomplet nombrecompleto nombreyapellido"),
  first_name: words("firstname givenname fname forename first vorname prenom nombre primernombre"),
  last_name: words("lastname surname familyname lname last nachname familienname zuname nom nomdefamille apellido"),
  email: [
    ...combineInOrder(
      "_ personal best primary main home business work professional corporate other secondary alternate additional all",
      "email emailaddress emailadress",
    ),
    ...words("emailpersonal emailbusiness emailwork emailhome emailother mail mailaddress"),
    ...words("emailadresse mailadresse courriel adresseemail adressemail adressecourriel adresseelectronique"),
    ...words("correo correoelectronico direcciondecorreo direcciondecorreoelectronico direcciondeemail"),
    ...combine("email emailadresse mailadresse", "geschaftlich privat dienstlich"),
    ...combine("email courriel adresseemail", "professionnel professionnelle personnel personnelle"),
    ...words("emailprofesional correoprofesional correopersonal correoelectronicopersonal"),
    ...numbered("email"),
    ...numbered("emailaddress"),
  ],
  verified_email: [
    ...combineInOrder("_ personal", "verifiedemail verifiedemailaddress"),
    "verifiedpersonalemail",
    ...combine("business work professional corporate", "verifiedemail"),
    ...combine("verified", "businessemail workemail professionalemail corporateemail"),
    ...words("deepverifiedemail validatedemail validemail confirmedemail"),
  ],
  phone: [
    ...combineInOrder("phone telephone", numberNames),
    ...words("bestphone bestphonenumber primaryphone primaryphonenumber mainphone mainphonenumber"),
    ...combineInOrder("mobile mobilephone cellphone", numberNames),
    ...words("cell cellnumber cellular direct directnumber directphone directphonenumber directdial directline"),
    ...combineInOrder("personal home", "mobile mobilephone mobilenumber cellphone phone phonenumber telephone number"),
    ...words("contactnumber tel phonemobile phonedirect phonework phonehome sanitizednumber internationalnumber e164"),
    ...words("allmobile allmobilephone alllandline landline landlinenumber allphone allphonenumber"),
    ...combineInOrder(
      "work office",
      "directphone directphonenumber directdial direct mobile mobilephone cellphone phone phonenumber telephone number",
    ),
    ...words("otherphone otherphonenumber secondaryphone secondaryphonenumber alternatephone"),
    ...words("telefon telefonnummer telefonnr handy handynummer handynr mobil mobilnummer mobiltelefon rufnummer"),
    ...combine("telefon telefonnummer", "mobil geschaftlich dienstlich privat"),
    ...words("portable telephoneportable telephonemobile telephonefixe fixe numerodetelephone ndetelephone"),
    ...words("telefono telefonomovil telefonocelular telefonofijo movil celular numerodetelefono"),
    ...combine("skiptrace", "wirelessnumber wirelessphone mobile phone landlinenumber landline"),
    ...numbered("phone"),
    ...numbered("phonenumber"),
    ...numbered("mobilephone"),
    ...numbered("mobile"),
  ],
  company: [
    ...words("company companyname companyaccount currentcompany currentcompanyname"),
    ...words("employer employername currentemployer organization organizationname organisation organisationname"),
    ...words("business businessname professionalcompany professionalcompanyname jobcompany jobcompanyname"),
    ...words("workplace firm firma firmenname unternehmen unternehmensname arbeitgeber"),
    ...words("societe entreprise nomdelentreprise nomdelasociete raisonsociale employeur"),
    ...words("empresa nombredelaempresa nombredeempresa compania organizacion"),
  ],
  city: [
    ...combine(ofHome, "city town cityname towncity citytown"),
    ...words("skiptracecity ort wohnort stadt ville ciudad localidad"),
  ],
  state: [
    ...combine(ofHome, "state statecode stateabbr stateabbreviation stateregion stateprovince statename"),
    ...combine(ofHome, "stateprovincetextonly region regioncode regionname province"),
    ...words("skiptracestate bundesland estado provincia"),
  ],
  country: [
    ...combine(ofHome, "country countrycode countryname countryiso countryisocode countryregion nation"),
    ...words("countrycodeiso countryiso2 countryiso3 countryiso3166 countryalpha2 countryfull countryfullname"),
    ...words("countryofresidence primarycountry land pays pais"),
  ],
  time_zone: words("timezone tz timezonename timezoneid timezoneoffset utcoffset zeitzone fuseauhoraire zonahoraria"),
  gender: words("gender sex geschlecht sexe genre sexo genero"),
  age_range: words("agerange agegroup agebracket ageband agebucket age altersgruppe alter edad"),
  income_range: [
    ...words("incomerange incomebracket incomelevel incomeband householdincomerange householdincome"),
    ...words("estimatedhouseholdincome estimatedincome annualincome income"),
  ],
  net_worth: words("networth networthrange householdnetworth estimatednetworth networthband"),
  marital_status: words("maritalstatus marital married ismarried marriagestatus relationshipstatus familienstand"),
  homeowner: words("homeowner ishomeowner homeownerstatus homeownership homeownerrenter ownshome ownorrent ownrent"),
  children: words("children haschildren numberofchildren childrencount presenceofchildren childreninhousehold haskids"),
  page_url: [
    ...words("pageurl url fullurl page landingpageurl landingpage landingurl capturedurl captureduri"),
    ...combine("last current visited visit viewed mostrecent recent event entry", "url page pageurl"),
    ...words("lastvisitedurl lastvisitedpage pagesvisited pagesviewed pagevisit"),
    ...words("lastpageseen lastpagevisited pageviewed pagevisited pagelocation uri href link"),
    ...combine("first initial", "url page pageurl pageseen"),
    ...words("seite seitenurl besuchteseite pagevisitee urldelapage paginavisitada urldelapagina"),
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
