import Fieldpack
import FieldpackServices
import FieldpackTestSupport
import Testing

/// What programs of other makers say of the file.
@Suite(.programs)
struct FormStoreReadersTests {
  @Test(.enabled(if: !Programs.validators.isEmpty, "\(Programs.noValidator)"))
  func `GDAL's validator finds nothing`() async throws {
    let folder = try FormFolder()
    try await filled(folder)
    for validator in Programs.validators where validator.knowsVersion14 {
      let result = try await Program.run(
        validator.python, ["-m", "osgeo_utils.samples.validate_gpkg", "-k", folder.path])
      #expect(result.status == 0, "\(result)")
    }
  }

  @Test(.enabled(if: Programs.ogr2ogr != nil, "\(Programs.noOGR)"))
  func `GDAL reads submissions`() async throws {
    let folder = try FormFolder()
    try await filled(folder)
    let program = try #require(Programs.ogr2ogr)
    let csv = try Programs.output(
      program, ["-f", "CSV", "/vsistdout/", folder.path, "wells", "-lco", "GEOMETRY=AS_WKT"])
    #expect(csv == "WKT,name,deep\n\"POINT (13.9 51.95)\",Markt,\"1\"\n")
  }

  private func filled(_ folder: FormFolder) async throws {
    let form = FormConfig(
      id: 1, key: "wells", label: "Wells", version: 1,
      fields: [
        FormField(key: "name", label: "Name", kind: .select) { $0.options = ["Markt", "Hof"] },
        FormField(key: "deep", label: "Deep", kind: .boolean),
      ])
    try await folder.withStore { store in
      try await store.register(form)
      try await store.submit(
        FormSubmission(["name": "Markt", "deep": "true"], at: .point(x: 13.9, y: 51.95)),
        to: "wells")
    }
  }
}
