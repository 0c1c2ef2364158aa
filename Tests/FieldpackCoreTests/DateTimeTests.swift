import FieldpackCore
import Testing

@Suite struct CalendarDateTests {
  @Test(arguments: [
    ("1970-01-01", 0), ("1969-12-31", -1), ("2000-02-29", 11016), ("2000-03-01", 11017),
    ("1900-02-28", -25509), ("1900-03-01", -25508), ("2024-02-29", 19782), ("0000-01-01", -719_528),
    ("0000-02-29", -719_469), ("0001-01-01", -719_162), ("9999-12-31", 2_932_896),
  ])
  func `days are counted from 1970`(text: String, dayNumber: Int) {
    #expect(CalendarDate(text)?.dayNumber == dayNumber)
    #expect(CalendarDate(dayNumber: dayNumber).description == text)
  }

  @Test(arguments: [
    "", "2021-02-29", "1900-02-29", "2020-13-01", "2020-00-10", "2020-01-00", "2020-04-31",
    "2020-1-01", "2020-01-1", "20200101", "2020/01/01", "2020-01-01T", "2020-01-01 ", "-001-01-01",
    "２０２０-01-01", "12020-01-01",
  ])
  func `refuses what is no day`(text: String) {
    #expect(CalendarDate(text) == nil)
  }

  @Test func `every day of 800 years comes back`() {
    for dayNumber in stride(from: -400_000, through: 400_000, by: 7) {
      let date = CalendarDate(dayNumber: dayNumber)
      let (year, month, day) = date.components
      #expect(CalendarDate(year: year, month: month, day: day) == date)
      #expect(CalendarDate(date.description) == date)
    }
  }

  @Test func `a day beyond all calendars has a text`() {
    #expect(CalendarDate(dayNumber: .max) == CalendarDate(dayNumber: 1 << 36))
    #expect(CalendarDate(dayNumber: .max).description == "188149506-11-16")
    #expect(CalendarDate(dayNumber: .min).description.hasPrefix("-188"))
    #expect(CalendarDate(dayNumber: .max).startOfDay > Instant(milliseconds: 0))
  }
}

@Suite struct InstantTests {
  @Test(
    arguments: [
      ("1970-01-01T00:00:00Z", 0),
      ("1970-01-01T00:00:00.001Z", 1),
      ("1969-12-31T23:59:59.999Z", -1),
      ("1970-01-01T00:00Z", 0),
      ("1970-01-01 00:00:00z", 0),
      ("1970-01-01t01:00:00+01:00", 0),
      ("1969-12-31T22:30:00-0130", 0),
      ("1970-01-01T05:30:00+05:30", 0),
      ("1970-01-01T01:00:00+01", 0),
      ("1970-01-01T00:00:00,5Z", 500),
      ("1970-01-01T00:00:00.5Z", 500),
      ("1970-01-01T00:00:00.05Z", 50),
      ("1970-01-01T00:00:00.1239999999999999999999999Z", 123),
      ("2016-12-31T23:59:60Z", 1_483_228_800_000),
      ("2020-02-29T12:34:56.789Z", 1_582_979_696_789),
      ("0000-01-01T00:00:00Z", -62_167_219_200_000),
      ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
    ] as [(String, Int64)])
  func `reads RFC 3339`(text: String, milliseconds: Int64) {
    #expect(Instant(text)?.milliseconds == milliseconds)
  }

  @Test(arguments: [
    "", "2020-01-01", "2020-01-01T00:00:00", "2020-01-01T24:00:00Z", "2020-01-01T00:60:00Z",
    "2020-01-01T00:00:61Z", "2020-01-01T00:00:00.Z", "2020-01-01T00:00:00+24:00",
    "2020-01-01T00:00:00+00:60", "2020-01-01T00:00:00+0", "2020-01-01T00:00:00+000",
    "2020-01-01T00:00:00+00:0", "2020-01-01T00:00:00ZZ", "2020-01-01T00:00:00 Z",
    "2020-02-30T00:00:00Z", "2020-01-01T00Z", "2020-01-01T00:00:0Z", "2020-01-01X00:00:00Z",
    "2020-01-01T0:00:00Z", "2020-01-01T00.00Z", "2020-01-01T00:00:",
  ])
  func `refuses what is no moment`(text: String) {
    #expect(Instant(text) == nil)
  }

  @Test(
    arguments: [
      (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
      (1_582_979_696_789, "2020-02-29T12:34:56.789Z"),
      (-62_167_219_200_000, "0000-01-01T00:00:00.000Z"),
    ] as [(Int64, String)])
  func `is written as GeoPackage holds it`(milliseconds: Int64, text: String) {
    #expect(Instant(milliseconds: milliseconds).description == text)
  }

  @Test func `the first and the last moment have texts`() {
    #expect(Instant(milliseconds: .max).description.hasSuffix("T07:12:55.807Z"))
    #expect(Instant(milliseconds: .min).description.hasSuffix("T16:47:04.192Z"))
  }

  @Test(arguments: [
    ("2020-01-01T00:00:00", false, 0), ("2020-01-01T00:00:00Z", true, 0),
    ("2020-01-01T00:00:00.12+01:00", true, 2), ("2020-01-01T00:00:00.123456789", false, 9),
    ("2020-01-01T00:00Z", true, 0),
  ])
  func `tells zone and precision`(text: String, hasZone: Bool, fractionDigits: Int) throws {
    var text = text
    let parsed = try #require(text.withUTF8 { DateTimeParser.dateTime($0) })
    #expect(parsed.hasZone == hasZone)
    #expect(parsed.fractionDigits == fractionDigits)
  }

  @Test(
    arguments: [
      ("1970-01-02", 86_400_000), ("1970-01-01T00:00:01", 1000),
      ("1970-01-01T00:00:01+01:00", -3_599_000),
      ("1970-01-0", nil), ("1970-01-01T", nil), ("", nil),
    ] as [(String, Int64?)])
  func `a date is its first moment`(text: String, milliseconds: Int64?) {
    var text = text
    #expect(text.withUTF8 { DateTimeParser.moment($0) }?.milliseconds == milliseconds)
  }
}
