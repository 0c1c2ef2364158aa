import Fieldpack
import FieldpackCore
import FieldpackServices
import Testing

struct FormRulesTests {
  private func rules(
    _ kind: FormField.Kind?, required: Bool = false,
    _ change: (inout FormConstraints) -> Void = { _ in }
  ) -> FormRules {
    var constraints = FormConstraints()
    change(&constraints)
    return FormRules(
      FormConfig(
        id: 1, key: "form", label: "Form", version: 1,
        fields: [
          FormField(
            key: "field", label: "Field", kind: kind, isRequired: required,
            constraints: constraints)
        ]))
  }

  /// The value as it is stored, or what is wrong.
  private func outcome(_ rules: FormRules, _ answer: Value) -> (value: Value?, wrong: [String]) {
    do throws(RefusedSubmission) {
      return (try rules.values(of: ["field": answer])["field"], [])
    } catch {
      #expect(error.form == "form")
      #expect(error.findings.allSatisfy { $0.field == "field" })
      return (nil, error.findings.map(\.message))
    }
  }

  @Test(arguments: FormField.Kind.allCases)
  func `a required value has to be given`(kind: FormField.Kind) {
    let required = rules(kind, required: true)
    for none: Value in [.null, "", "  "] {
      #expect(outcome(required, none) == (nil, ["value is required"]))
      #expect(outcome(rules(kind), none) == (nil, []))
    }
  }

  @Test func `0 and false are given`() {
    #expect(outcome(rules(.number, required: true), 0) == (.real(0), []))
    #expect(outcome(rules(.counter, required: true), "0") == (.integer(0), []))
    #expect(outcome(rules(.boolean, required: true), false) == (.boolean(false), []))
  }

  @Test(arguments: [
    (FormField.Kind.number, "2.5" as Value, .real(2.5) as Value), (.number, " 3 ", .real(3)),
    (.slider, 4, .real(4)), (.integer, "12", .integer(12)), (.counter, 3.0, .integer(3)),
    (.integer, "9223372036854775807", .integer(.max)),
    (.boolean, "true", .boolean(true)), (.boolean, 0, .boolean(false)),
    (.date, "2017-03-23", .dateTime(Instant("2017-03-23T00:00:00Z")!)),
    (.date, "2017-03-23T18:18:08.521+02:00", .dateTime(Instant("2017-03-23T16:18:08.521Z")!)),
    (.time, "14:30", "14:30"), (.time, "14:30:05Z", "14:30:05Z"),
    (.time, "2017-03-23T18:18:08Z", "2017-03-23T18:18:08Z"),
    (.string, " a ", " a "), (.string, 5, "5"), (.barcode, true, "true"), (.select, "N", "N"),
    (.photo, "data:image/jpeg;base64,/9j/", "data:image/jpeg;base64,/9j/"),
    (.photo, .blob([0xFF, 0xD8, 0xFF]), "data:image/jpeg;base64,/9j/"),
  ])
  func `texts are read as what fields hold`(
    kind: FormField.Kind, answer: Value, stored: Value
  ) {
    #expect(outcome(rules(kind), answer) == (stored, []))
  }

  @Test(arguments: [
    (FormField.Kind.number, "many" as Value, "value must be a number"),
    (.number, true, "value must be a number"), (.slider, "1e999", "value must be a number"),
    (.integer, 2.5, "value must be a whole number"),
    (.counter, "9223372036854775808", "value must be a whole number"),
    (.boolean, "perhaps", "value must be true or false"),
    (.boolean, 2, "value must be true or false"),
    (.date, "tomorrow", "value must be a date such as 2017-03-23 or 2017-03-23T18:18:08Z"),
    (.date, "2017-02-30", "value must be a date such as 2017-03-23 or 2017-03-23T18:18:08Z"),
    (.time, "25:00", "value must be a time such as 14:30"),
    (.photo, "IMG_1.jpg", "value must be a picture as a data URI"),
    (.photo, .blob([1, 2, 3]), "value must be a picture as a data URI"),
    (.photo, .blob(Array("%PDF-1.7".utf8)), "value must be a picture as a data URI"),
    (.string, .blob([1]), "value must be a text"),
  ])
  func `a value of another type is refused`(kind: FormField.Kind, answer: Value, message: String) {
    #expect(outcome(rules(kind), answer) == (nil, [message]))
  }

  @Test func `a field of an unknown type holds texts`() {
    #expect(outcome(rules(nil), 2.5) == (.text("2.5"), []))
  }

  @Test func `numbers stay between their ends`() {
    let closed = rules(.number) {
      $0.minimum = .init(1)
      $0.maximum = .init(5.5)
    }
    #expect(outcome(closed, "1") == (.real(1), []))
    #expect(outcome(closed, "0.5") == (nil, ["value must be >= 1"]))
    #expect(outcome(closed, 6) == (nil, ["value must be <= 5.5"]))
    let open = rules(.counter) {
      $0.minimum = .init(1, isExclusive: true)
      $0.maximum = .init(5, isExclusive: true)
    }
    #expect(outcome(open, 2) == (.integer(2), []))
    #expect(outcome(open, "1") == (nil, ["value must be > 1"]))
    #expect(outcome(open, 5) == (nil, ["value must be < 5"]))
  }

  @Test func `a number can have to be whole`() {
    let whole = rules(.number) { $0.isInteger = true }
    #expect(outcome(whole, "4") == (.integer(4), []))
    #expect(outcome(whole, "4.5") == (nil, ["value must be a whole number"]))
  }

  @Test func `lengths and patterns count characters, and all that is wrong is told`() {
    let text = rules(.string) {
      $0.minimumLength = 2
      $0.maximumLength = 3
      $0.pattern = "^[^x]*$"
    }
    #expect(outcome(text, "\u{1F600}\u{1F600}") == (.text("\u{1F600}\u{1F600}"), []))
    #expect(
      outcome(text, "x")
        == (
          nil, ["value must have at least 2 characters", "value must match the pattern '^[^x]*$'"]
        ))
    #expect(outcome(text, "abcd") == (nil, ["value must have at most 3 characters"]))
    #expect(
      outcome(rules(.string) { $0.maximumLength = 1 }, "ab")
        == (nil, ["value must have at most 1 character"]))
  }

  @Test func `a choice is one of its options`() {
    let choice = rules(.select) { $0.options = ["N", "S", "N"] }
    #expect(outcome(choice, "S") == (.text("S"), []))
    #expect(outcome(choice, "s") == (nil, ["value must be one of 'N', 'S'"]))
    let numbers = rules(.counter) { $0.options = ["1", "2"] }
    #expect(outcome(numbers, "2") == (.integer(2), []))
    #expect(outcome(numbers, 3) == (nil, ["value must be one of '1', '2'"]))
  }

  @Test func `a pattern that cannot be compared is told and not tested`() {
    let rules = rules(.string) { $0.pattern = "(a)\\1" }
    #expect(
      rules.notes.map(\.text) == [
        "field 'field' of form 'form': the pattern '(a)\\1' has a back-reference (character 5), "
          + "which no matcher compares in a time that grows with the text alone: it is not tested"
      ])
    #expect(outcome(rules, "b") == (.text("b"), []))
  }

  @Test func `all that is wrong is told in the order of the fields`() throws {
    let form = FormConfig(
      id: 5, key: "basic", label: "Basic", version: 2,
      fields: [
        FormField(key: "name", label: "Name", kind: .string, isRequired: true),
        FormField(key: "count", label: "Count", kind: .integer),
      ])
    let error = #expect(throws: RefusedSubmission.self) {
      try FormRules(form).values(of: ["colour": "red", "count": "two", "size": nil])
    }
    #expect(
      error?.description == "the submission to form 'basic' is refused: name: value is required; "
        + "count: value must be a number; colour: the form has no such field")
  }
}
