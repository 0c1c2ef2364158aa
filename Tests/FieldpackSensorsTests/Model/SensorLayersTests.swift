import FieldpackCore
import FieldpackFieldTestSupport
import FieldpackSensors
import FieldpackTestSupport
import Testing

/// The layers as other programs see them.
@Suite(.programs) struct SensorLayersTests {
  @Test func `other programs read persons and items`() async throws {
    let file = try SensorFile()
    try await file.run { persons, journal in
      var details = PersonDetails()
      details.gender = "Female"
      let person = try await persons.add(details)
      let item = try await persons.add(.finger(by: .north), to: person.key)
      _ = try await journal.post(SensorDownload("a", of: item))
      try await journal.session(SensorSession(device: .north, id: "s", holdsLock: true))
    }
    #expect(try file.file.findings() == [])
    #expect(try await file.file.verdicts() == [])
    #expect(
      try file.file.rows(
        "SELECT base_table_name, related_table_name, relation_name, mapping_table_name "
          + "FROM gpkgext_relations ORDER BY id") == [
          "bio_item|media|media|bio_item_media",
          "bio_person|bio_item|features|bio_person_item",
        ])
    #expect(
      try file.file.rows(
        "SELECT value FROM gpkg_data_column_constraints c JOIN gpkg_data_columns d "
          + "USING (constraint_name) WHERE d.column_name = 'eye_color' ORDER BY c.rowid") == [
          "", "Brown", "Blue", "Green",
        ])
    #expect(
      try file.file.rows(
        "SELECT table_name, data_type FROM gpkg_contents WHERE table_name LIKE 'bio%' "
          + "ORDER BY table_name") == [
          "bio_capture|attributes", "bio_device|attributes", "bio_item|features",
          "bio_op_log|attributes", "bio_person|attributes", "bio_session|attributes",
        ])
  }
}
