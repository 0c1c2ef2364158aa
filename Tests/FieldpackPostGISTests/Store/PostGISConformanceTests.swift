#if PostGIS
  import FieldpackCore
  import FieldpackStoreKit
  import FieldpackTestSupport
  import Testing

  @testable import FieldpackPostGIS

  /// What every store must do, done by PostgreSQL.
  @Suite(.programs, .enabled(if: TestCluster.isInstalled, "\(TestCluster.missing)"))
  struct PostGISConformanceTests {
    @Test(arguments: StoreConformance.reading)
    func `reads as a store`(behaviour: StoreConformance) async throws {
      let schema = try await TestSchema.make()
      for layer in StoreConformance.layers {
        try schema.fill(layer, StoreConformance.features(of: layer.layer))
      }
      try await behaviour.check(schema.store())
    }
  }
#else
  import Testing

  @Suite(.disabled("built without the trait PostGIS"))
  struct PostGISConformanceTests {
    @Test func `the tests of stores on PostgreSQL`() {}
  }
#endif
