import FieldpackCore
import Testing

@testable import FieldpackMaps

@Suite struct NumberClassesTests {
  private static let found: [(NumberClasses.Method, [Double], [String])] = [
    (.quantile, [0, 3, 6, 100], ["0 – 3", "3 – 6", "6 – 100"]),
    (.equal, [0, 100.0 / 3, 200.0 / 3, 100], ["0 – 33.3", "33.3 – 66.7", "66.7 – 100"]),
    (.jenks, [0, 90, 100, 100], ["0 – 90", "90 – 100", "100"]),
  ]

  @Test(arguments: found)
  func `borders are found by the method asked for`(
    method: NumberClasses.Method, borders: [Double], names: [String]
  ) throws {
    let values: [Double] = [0, 1, 2, 3, 4, 5, 6, 90, 100]
    let classes = try #require(NumberClasses(values, count: 3, by: method))
    #expect(classes.borders == borders)
    #expect(classes.names == names)
    #expect(classes.index(of: -5) == 0 && classes.index(of: 1000) == 2)
    #expect(classes.index(of: .nan) == nil && classes.index(of: .infinity) == nil)
  }

  @Test(arguments: NumberClasses.Method.allCases)
  func `few, equal and extreme values have as many classes as they can`(
    method: NumberClasses.Method
  ) {
    #expect(NumberClasses([], count: 5, by: method) == nil)
    #expect(NumberClasses([.nan, .infinity], count: 5, by: method) == nil)
    #expect(NumberClasses([7, 7, 7], count: 5, by: method)?.names == ["7"])
    #expect(NumberClasses([1, 2], count: 5, by: method)?.count == 2)
    for values in [[-1e308, 0, 1e308], [1e-300, 2e-300, 5e-300], [-0.0, 0.0]] {
      let classes = NumberClasses(values, count: 5, by: method)
      #expect(classes.map { $0.count > 0 && $0.names.count == $0.count } == true, "\(values)")
    }
    let many = (0..<5000).map { Double($0 * $0) }
    #expect(NumberClasses(many, count: 7, by: method)?.count == 7)
  }

  @Test func `natural breaks lie where the gaps are`() throws {
    let values: [Double] = [1, 2, 3, 50, 51, 52, 53, 200, 201]
    #expect(
      try #require(NumberClasses(values, count: 3, by: .jenks)).borders == [1, 50, 200, 201])
  }
}
