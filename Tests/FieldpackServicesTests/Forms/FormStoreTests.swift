import Fieldpack
import FieldpackCore
import FieldpackFieldTestSupport
import FieldpackGeoPackage
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServices

struct FormStoreTests {
  private let form = FormConfig(
    id: 36, key: "potholes", label: "Potholes", version: 3,
    fields: [
      FormField(key: "severity", label: "Severity", kind: .select, isRequired: true) {
        $0.options = ["low", "high"]
      },
      FormField(key: "depth", label: "Depth in cm", kind: .number),
      FormField(key: "lanes", label: "Lanes", kind: .number) { $0.isInteger = true },
      FormField(key: "blocked", label: "Blocked", kind: .boolean),
      FormField(key: "seen", label: "Seen on", kind: .date),
      FormField(key: "hour", label: "Hour", kind: .time),
      FormField(key: "noise", label: "Noise", kind: .slider),
      FormField(key: "cars", label: "Cars", kind: .counter),
      FormField(key: "photo", label: "Photo", kind: .photo),
      FormField(key: "code", label: "Code", kind: .barcode),
      FormField(key: "workers", label: "Workers", kind: .integer),
      FormField(key: "mood", label: "Mood", kind: nil),
    ])

  @Test func `a form becomes a layer with a column for each field`() async throws {
    let folder = try FormFolder()
    let form = form
    let schema = try await folder.withStore { store in
      #expect(try await store.register(form) == FormRegistration(form: form, outcome: .created))
      #expect(await store.forms == [form])
      return try await store.store.schemas()
    }
    #expect(schema.map(\.layer) == ["potholes"])
    #expect(schema.first?.idColumn == "id")
    #expect(
      schema.first?.geometry == GeometryColumn("geom", type: .geometry, srs: .wgs84, z: .optional))
    #expect(
      schema.first?.columns.map { "\($0.name) \($0.type.sql) '\($0.title ?? "")'" } == [
        "severity TEXT 'Severity'", "depth REAL 'Depth in cm'", "lanes INTEGER 'Lanes'",
        "blocked BOOLEAN 'Blocked'", "seen DATETIME 'Seen on'", "hour TEXT 'Hour'",
        "noise REAL 'Noise'", "cars INTEGER 'Cars'", "photo TEXT 'Photo'", "code TEXT 'Code'",
        "workers INTEGER 'Workers'", "mood TEXT 'Mood'",
      ])
    #expect(
      schema.first?.columns[0].constraint == .oneOf("low", "high", named: "potholes_severity"))
    #expect(try folder.findings() == [])
  }

  @Test func `a submission is a feature once it has an id`() async throws {
    let folder = try FormFolder()
    let form = form
    let feature = try await folder.withStore { store in
      try await store.register(form)
      let id = try await store.submit(
        FormSubmission(
          [
            "severity": "high", "depth": "12.5", "lanes": 2, "blocked": false, "seen": "2017-03-23",
          ],
          at: .point(x: 13.4, y: 52.5)), to: "potholes")
      #expect(id == .integer(1))
      return try await store.store.feature(id, in: "potholes")
    }
    let attributes = try #require(feature?.attributes)
    #expect(feature?.geometry == .point(x: 13.4, y: 52.5))
    #expect(
      attributes.elements.filter { !$0.value.isNull }.map { "\($0.name)=\($0.value)" } == [
        "severity=text(\"high\")", "depth=real(12.5)", "lanes=integer(2)", "blocked=boolean(false)",
        "seen=dateTime(2017-03-23T00:00:00.000Z)",
      ])
  }

  @Test func `a data URI is given back as it was submitted`() async throws {
    let folder = try FormFolder()
    let form = form
    let photo = "data:image/png;base64,iVBORw0KGgo="
    try await folder.withStore { store in
      try await store.register(form)
      let text = try await store.submit(
        FormSubmission(["severity": "low", "photo": .text(photo)]), to: "potholes")
      let bytes = try await store.submit(
        FormSubmission([
          "severity": "low", "photo": .blob([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]),
        ]), to: "potholes")
      for id in [text, bytes] {
        let feature = try await store.store.feature(id, in: "potholes")
        #expect(feature?.attributes["photo"] == .text(photo))
      }
    }
  }

  @Test func `what breaks the rules is refused with all findings`() async throws {
    let folder = try FormFolder()
    let form = form
    try await folder.withStore { store in
      try await store.register(form)
      let error = await failure {
        _ = try await store.submit(FormSubmission(["depth": "deep"]), to: "potholes")
      }
      #expect(error?.code == .invalidData)
      #expect(
        (error?.underlying as? RefusedSubmission)?.findings == [
          FormFinding(field: "severity", message: "value is required"),
          FormFinding(field: "depth", message: "value must be a number"),
        ])
      let unknown = await failure {
        _ = try await store.submit(FormSubmission([:]), to: "wells")
      }
      #expect(unknown?.code == .notFound)
      #expect(unknown?.message == "there is no form 'wells' (there are: potholes)")
      #expect(try await store.store.count(Query("potholes")) == 0)
    }
  }

  @Test func `submissions of one call are kept together or not at all`() async throws {
    let folder = try FormFolder()
    let form = form
    try await folder.withStore { store in
      try await store.register(form)
      let error = await failure {
        _ = try await store.submit(
          [FormSubmission(["severity": "low"]), FormSubmission(["severity": "some"])],
          to: "potholes")
      }
      #expect(error?.position?.feature == 2)
      #expect(try await store.store.count(Query("potholes")) == 0)
      let ids = try await store.submit(
        [FormSubmission(["severity": "low"]), FormSubmission(["severity": "high"])],
        to: "potholes")
      #expect(ids == [.integer(1), .integer(2)])
    }
  }

  @Test func `the rules of the options hold for other writers of the layer`() async throws {
    let folder = try FormFolder()
    let form = form
    try await folder.withStore { store in
      try await store.register(form)
      let error = await failure {
        try await store.store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
          _ = try writer.create(Feature(attributes: ["severity": "some"]), in: "potholes")
        }
      }
      #expect(error?.code == .constraint)
    }
  }

  @Test func `bridges read submissions, and the owner changes them`() async throws {
    let folder = try FormFolder()
    let form = form
    try await folder.withStore { store in
      try await store.register(form)
      let id = try await store.submit(FormSubmission(["severity": "low"]), to: "potholes")
      let bridge: any Store = store.readOnly
      #expect((bridge as? any WritableStore) == nil)
      #expect(bridge.geoPackage == nil)
      #expect(try await bridge.count(Query("potholes")) == 1)
      #expect(try await bridge.feature(id, in: "potholes")?.attributes["severity"] == "low")
      await bridge.close()
      try await store.store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
        try writer.delete(id, in: "potholes")
      }
      #expect(try await bridge.count(Query("potholes")) == 0)
    }
  }

  @Test func `what is submitted is told as a change`() async throws {
    let folder = try FormFolder()
    let form = form
    try await folder.withStore { store in
      try await store.register(form)
      let data = DataService()
      try await data.register(
        store.readOnly, as: StoreConfig(id: FormStore.id, type: "gpkg", uri: "FORM_STORE.gpkg"))
      let changes = data.workspace.changes(polling: nil)
      let id = try await store.submit(FormSubmission(["severity": "low"]), to: "potholes")
      await data.close()
      var told: [String] = []
      for try await change in changes {
        told.append("\(change.kind) \(change.key.map { "\($0.layer) \($0.feature)" } ?? "-")")
      }
      #expect(told == ["created potholes \(id)"])
    }
  }

  // MARK: Versions

  @Test func `a newer version adds columns, and rows stay`() async throws {
    let folder = try FormFolder()
    let form = form
    try await folder.withStore { store in
      try await store.register(form)
      try await store.submit(FormSubmission(["severity": "low", "mood": "calm"]), to: "potholes")
    }
    var newer = form
    newer.version = 4
    newer.fields.removeLast()
    newer.fields[0].constraints.options = ["slight", "deep"]
    newer.fields.append(FormField(key: "street", label: "Street", kind: .string))
    try await folder.withStore { [newer] store in
      #expect(
        try await store.register(newer)
          == FormRegistration(form: newer, outcome: .upgraded(from: 3, added: ["street"])))
      let old = try await store.store.feature(.integer(1), in: "potholes")
      #expect(old?.attributes["severity"] == "low")
      #expect(old?.attributes["mood"] == "calm")
      #expect(old?.attributes["street"] == .some(.null))
      try await store.submit(
        FormSubmission(["severity": "deep", "street": "Markt"]), to: "potholes")
      #expect(try await store.register(newer).outcome == .unchanged)
    }
    #expect(try folder.findings() == [])
  }

  @Test func `an older version changes nothing, and the stored one counts`() async throws {
    let folder = try FormFolder()
    let form = form
    var older = form
    older.version = 2
    older.fields = [FormField(key: "street", label: "Street", kind: .string)]
    try await folder.withStore { store in try await store.register(form) }
    try await folder.withStore { [older] store in
      let registration = try await store.register(older)
      #expect(registration == FormRegistration(form: form, outcome: .outdated(stored: 3)))
      #expect(await store.forms == [form])
    }
    let columns = try await folder.withStore { store in
      try await store.store.schemas().flatMap { $0.columns.map(\.name) }
    }
    #expect(columns == form.fields.map(\.key))
  }

  @Test func `a field of another type is told, and other forms go on`() async throws {
    let folder = try FormFolder()
    let form = form
    var changed = form
    changed.version = 4
    changed.fields[1].kind = .string
    changed.fields.insert(FormField(key: "street", label: "Street", kind: .string), at: 0)
    let other = FormConfig(
      id: 7, key: "test", label: "test", version: 2,
      fields: [FormField(key: "test", label: "test", kind: .string)])
    try await folder.withStore { [changed] store in
      try await store.register(form)
      let error = await failure { try await store.register(changed) }
      #expect(error?.code == .constraint)
      #expect(
        error?.message
          == "form 'potholes' cannot be kept: its field 'depth' is kept as REAL, and version 4 wants "
          + "TEXT")
      #expect(try await store.register(other).outcome == .created)
      #expect(await store.forms == [form, other])
      #expect(
        try await store.store.schemas().first { $0.layer == "potholes" }?.columnIndex("street")
          == nil)
    }
  }

  @Test(arguments: ["id", "geom", "GEOM", "Name"])
  func `a field cannot have the name of another column`(key: String) async throws {
    let folder = try FormFolder()
    let form = FormConfig(
      id: 1, key: "form", label: "Form", version: 1,
      fields: [
        FormField(key: "name", label: "Name", kind: .string),
        FormField(key: key, label: "Other", kind: .string),
      ])
    try await folder.withStore { store in
      let error = await failure { try await store.register(form) }
      #expect(
        error?.message
          == "form 'form' cannot be kept: the name of its field '\(key)' is that of another column of "
          + "its layer")
      let schemas = try await store.store.schemas()
      #expect(schemas == [])
    }
  }

  @Test func `a form that is taken away leaves its submissions`() async throws {
    let folder = try FormFolder()
    let form = form
    try await folder.withStore { store in
      try await store.register(form)
      try await store.submit(FormSubmission(["severity": "low"]), to: "potholes")
      #expect(await store.unregister("potholes"))
      #expect(await !store.unregister("potholes"))
      #expect(await store.forms == [])
      #expect(try await store.store.count(Query("potholes")) == 1)
      #expect(try await store.register(form).outcome == .unchanged)
    }
  }

  @Test func `whether there are forms is told at once and when it changes`() async throws {
    let folder = try FormFolder()
    let form = form
    try await folder.withStore { store in
      var told = store.hasForms.makeAsyncIterator()
      #expect(await told.next() == false)
      try await store.register(form)
      #expect(await told.next() == true)
      var late = store.hasForms.makeAsyncIterator()
      #expect(await late.next() == true)
      await store.unregister("potholes")
      #expect(await told.next() == false)
      await store.close()
      #expect(await told.next() == nil)
    }
  }

  // MARK: Real forms

  @Test(.enabled(if: SharedData.isPresent, "\(SharedData.absent)"))
  func `the forms of a real config become layers`() async throws {
    let folder = try FormFolder()
    let config = try WorkspaceConfig([SharedData.url("spatialconnect/mobile/remote-full.scfg").path]
    )
    try await folder.withStore { store in
      for form in config.forms {
        #expect(try await store.register(form).outcome == .created)
      }
      // A document that says what the config says is one that changes nothing.
      for form in config.forms {
        #expect(try await store.register(form).outcome == .unchanged)
        #expect(try await store.rules(of: form.key).notes == [])
      }
      let error = await failure {
        _ = try await store.submit(
          FormSubmission(["description": "big", "occurences": "7"]), to: "basic_data_collection")
      }
      #expect(
        error?.message == "the submission to form 'basic_data_collection' is refused: "
          + "description: value must have at least 5 characters; occurences: value must be <= 5")
      let mail = await failure {
        _ = try await store.submit(
          FormSubmission(["email": "nobody"]), to: "oil_spill_assessment_summary")
      }
      #expect(mail?.message.contains("email: value must match the pattern") == true)
      try await store.submit(
        FormSubmission(["email": "a.person@example.org", "tidal_stage": "High"]),
        to: "oil_spill_assessment_summary")
      #expect(
        try await store.store.layers().map {
          "\($0.id) \($0.description ?? "") \($0.featureCount ?? 0)"
        }
          == [
            "potholes Potholes 0", "basic_data_collection Basic Data Collection 0", "test test 0",
            "oil_spill_assessment_summary Oil Spill Assessment Summary 1",
          ])
    }
    #expect(try folder.findings() == [])
  }
}
